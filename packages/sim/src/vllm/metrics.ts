import type { RequestEnd } from './records.ts';

/** Seconds, and tokens; vLLM has more buckets, of the same kind. */
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 640];
const TOKENS = [1, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 20_000];
const REASONS = ['stop', 'length', 'abort', 'error'] as const;

const HISTOGRAMS = {
  time_to_first_token_seconds: SECONDS,
  e2e_request_latency_seconds: SECONDS,
  request_queue_time_seconds: SECONDS,
  request_prefill_time_seconds: SECONDS,
  request_decode_time_seconds: SECONDS,
  request_generation_tokens: TOKENS,
  request_prompt_tokens: TOKENS,
} as const;

type HistogramName = keyof typeof HISTOGRAMS;

/** What is read off the engine at the moment of the scrape. */
interface Gauges {
  readonly running: number;
  readonly waiting: number;
  /** 0 to 1 */
  readonly kvUsage: number;
  readonly preemptions: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
}

export interface Metrics {
  observe(name: HistogramName, value: number): void;
  ended(end: RequestEnd): void;
  /** Prometheus text with the names and labels of contract 2.3. */
  render(gauges: Gauges): string;
}

interface Histogram {
  readonly counts: number[];
  sum: number;
  count: number;
}

export function createMetrics(modelName: string): Metrics {
  const histograms = new Map<HistogramName, Histogram>();
  const reasons = new Map<string, number>(REASONS.map((reason) => [reason, 0]));
  const labels = `engine="0",model_name="${modelName.replace(/[\\"\n]/g, '\\$&')}"`;
  const histogramOf = (name: HistogramName): Histogram => {
    const found = histograms.get(name) ?? { counts: HISTOGRAMS[name].map(() => 0), sum: 0, count: 0 };
    histograms.set(name, found);
    return found;
  };
  return {
    observe(name, value) {
      const histogram = histogramOf(name);
      histogram.sum += value;
      histogram.count += 1;
      HISTOGRAMS[name].forEach((bound, at) => {
        if (value <= bound) histogram.counts[at] = (histogram.counts[at] ?? 0) + 1;
      });
    },
    ended(end) {
      const reason = reasonOf(end);
      if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    },
    render(gauges) {
      const plain = (name: string, type: string, value: number): string =>
        `# TYPE vllm:${name} ${type}\nvllm:${name}{${labels}} ${value}`;
      return [
        plain('num_requests_running', 'gauge', gauges.running),
        plain('num_requests_waiting', 'gauge', gauges.waiting),
        plain('kv_cache_usage_perc', 'gauge', gauges.kvUsage),
        plain('num_preemptions_total', 'counter', gauges.preemptions),
        plain('prompt_tokens_total', 'counter', gauges.promptTokens),
        plain('generation_tokens_total', 'counter', gauges.generatedTokens),
        '# TYPE vllm:request_success_total counter',
        ...[...reasons].map(
          ([reason, count]) => `vllm:request_success_total{${labels},finished_reason="${reason}"} ${count}`,
        ),
        ...(Object.keys(HISTOGRAMS) as HistogramName[]).map((name) =>
          renderHistogram(name, labels, histogramOf(name)),
        ),
        '',
      ].join('\n');
    },
  };
}

function reasonOf(end: RequestEnd): (typeof REASONS)[number] | null {
  if (end === 'refused') return null;
  if (end === 'aborted') return 'abort';
  if (end === 'died') return 'error';
  return end === 'length' ? 'length' : 'stop';
}

function renderHistogram(name: HistogramName, labels: string, { counts, sum, count }: Histogram): string {
  const bounds = HISTOGRAMS[name];
  return [
    `# TYPE vllm:${name} histogram`,
    ...bounds.map((bound, at) => `vllm:${name}_bucket{${labels},le="${bound}"} ${counts[at] ?? 0}`),
    `vllm:${name}_bucket{${labels},le="+Inf"} ${count}`,
    `vllm:${name}_sum{${labels}} ${sum}`,
    `vllm:${name}_count{${labels}} ${count}`,
  ].join('\n');
}
