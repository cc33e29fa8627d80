/** Who answered when, and which scheduled probes failed since; over all lives of the controller, by pod key. */
export class AnswerBook {
  readonly #answeredMs = new Map<string, number>();
  readonly #failedMs = new Map<string, readonly number[]>();

  answered(key: string, atMs: number): void {
    if (atMs <= (this.#answeredMs.get(key) ?? 0)) return;
    this.#answeredMs.set(key, atMs);
    const failedMs = (this.#failedMs.get(key) ?? []).filter((failed) => failed > atMs);
    this.#failedMs.set(key, failedMs);
  }

  /** A scheduled probe failed while somebody else could answer. */
  failed(key: string, atMs: number): void {
    this.#failedMs.set(key, [...(this.#failedMs.get(key) ?? []), atMs]);
  }

  failsOf(key: string): number {
    return this.#failedMs.get(key)?.length ?? 0;
  }

  hasOtherAnswered(key: string, sinceMs: number): boolean {
    return [...this.#answeredMs].some(([other, atMs]) => other !== key && atMs >= sinceMs);
  }
}
