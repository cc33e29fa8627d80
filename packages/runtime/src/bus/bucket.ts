/** A key-value bucket, made on demand, written by compare-and-set. */
export interface Bucket<T> {
  /** throws `bus_unavailable` */
  get(key: string): Promise<{ value: T; revision: number } | null>;
  /** `expected` 0 = must not exist. `unknown`: it may have been written, or be written later */
  write(key: string, value: T, expected: number): Promise<WriteOutcome>;
  remove(key: string): Promise<void>;
  keys(): Promise<string[]>;
  /**
   * `key` or `*`. Calls with the present value first, then with newer ones, never with an older one. null = not there any
   * more: removed, or lost with the server's state; which of the two cannot be told.
   */
  watch(key: string, cb: (key: string, value: T | null, revision: number) => void): () => void;
}

export type WriteOutcome =
  | { readonly kind: 'written'; readonly revision: number }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown'; readonly cause: unknown };
