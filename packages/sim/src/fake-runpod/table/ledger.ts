import type { PodRecord } from './pod-record.ts';

/** What a pod has cost, exactly: milliseconds × millionths of a dollar an hour. */
export type ExactCost = bigint;

const MS_PER_HOUR = 3_600_000n;
const MICRO = 1_000_000n;

export interface LedgerLine {
  readonly podId: string;
  readonly name: string;
  readonly gpuId: string | null;
  readonly gpuCount: number;
  readonly spot: boolean;
  readonly fromMs: number;
  /** null = it bills now */
  readonly toMs: number | null;
  readonly microUsdPerHour: number;
  readonly billedMs: number;
  readonly exact: ExactCost;
}

/** One line for each time in which a pod billed at one rate. An open one is counted up to `nowMs`. */
export function ledgerLines(pods: Iterable<PodRecord>, nowMs: number): LedgerLine[] {
  return [...pods].flatMap((pod) =>
    pod.intervals.map(({ fromMs, toMs, microUsdPerHour }) => {
      const billedMs = Math.round((toMs ?? nowMs) - fromMs);
      return {
        podId: pod.id,
        name: pod.request.name,
        gpuId: pod.gpuId,
        gpuCount: pod.request.gpuCount,
        spot: pod.request.bidMicroUsdPerGpu !== null,
        fromMs,
        toMs,
        microUsdPerHour,
        billedMs,
        exact: BigInt(billedMs) * BigInt(microUsdPerHour),
      };
    }),
  );
}

export function totalCost(lines: readonly LedgerLine[]): ExactCost {
  return lines.reduce((sum, { exact }) => sum + exact, 0n);
}

/** Rounded to a millionth of a dollar, once, at the end. */
export function usdOf(exact: ExactCost): number {
  const micro = (exact + MS_PER_HOUR / 2n) / MS_PER_HOUR;
  return Number(micro / MICRO) + Number(micro % MICRO) / Number(MICRO);
}

/** What one line costs between two instants. */
export function costWithin(line: LedgerLine, fromMs: number, toMs: number): { ms: number; exact: ExactCost } {
  const endMs = line.toMs ?? line.fromMs + line.billedMs;
  const ms = Math.max(0, Math.round(Math.min(endMs, toMs) - Math.max(line.fromMs, fromMs)));
  return { ms, exact: BigInt(ms) * BigInt(line.microUsdPerHour) };
}
