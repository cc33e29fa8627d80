import type { FleetStatus, PoolStatus, WorkerStatus } from '@pagefleet/contract';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

interface Count<L extends string> {
  inc(labels: Record<L, string>): void;
}

/** What passes and actions feed. */
export interface RenterMetrics {
  readonly passSeconds: { observe(seconds: number): void };
  readonly rents: Count<'outcome'>;
  readonly terminates: Count<'outcome'>;
  readonly probes: Count<'purpose' | 'outcome'>;
  readonly listings: Count<'outcome'>;
}

/** Counters; gauges are filled from one status snapshot at each scrape. */
export interface ControllerMetrics extends RenterMetrics {
  readonly generations: Counter<'outcome'>;
  render(status: FleetStatus): Promise<string>;
  readonly contentType: string;
}

const SUMMARY_FIELDS = [
  'pods_ready',
  'pods_booting',
  'pods_quarantined',
  'pods_draining',
  'live_hourly_usd',
  'live_hourly_serving_usd',
  'live_hourly_booting_usd',
  'live_hourly_quarantined_usd',
  'live_booting_share',
  'spend_today_usd',
  'spend_month_usd',
  'pages_in_flight',
  'pages_waiting',
  'pages_per_second',
] as const satisfies readonly (keyof FleetStatus['summary'])[];

const POOL_FIELDS = [
  'min_pods',
  'max_pods',
  'effective_max_pods',
  'in_flight',
  'waiting',
  'unsplit',
  'refused',
  'pages_per_second',
  'live_hourly_usd',
  'spend_today_usd',
  'spend_month_usd',
] as const satisfies readonly (keyof PoolStatus)[];

const WORKER_FIELDS = [
  'in_flight',
  'waiting',
  'bytes_in_memory',
  'bytes_spooled',
  'rss_bytes',
] as const satisfies readonly (keyof WorkerStatus)[];

/** Names are contract: status fields under their own name, after `pagefleet_`. */
export function createMetrics(): ControllerMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ program: 'controller' });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new Gauge({ name, help, labelNames, registers });

  const summary = new Map(
    SUMMARY_FIELDS.map((field) => [
      field,
      gauge(`pagefleet_${field}`, `summary.${field} of the status.`, []),
    ]),
  );
  const pods = gauge('pagefleet_pool_pods', 'Pods by pool and state.', ['pool', 'state']);
  const pool = new Map(
    POOL_FIELDS.map((field) => [field, gauge(`pagefleet_pool_${field}`, `pools[].${field}.`, ['pool'])]),
  );
  const worker = new Map(
    WORKER_FIELDS.map((field) => [
      field,
      gauge(`pagefleet_worker_${field}`, `workers[].${field}; absent until it reports.`, ['worker']),
    ]),
  );
  const leases = gauge('pagefleet_leases', 'Leases that clients hold.', []);
  const booting = gauge(
    'pagefleet_booting_today_usd',
    'money.booting_today_usd: of it, pods that booted.',
    [],
  );
  const left = gauge('pagefleet_budget_left_usd', 'money.per_hour and per_day: what is left.', ['per']);
  const degraded = gauge('pagefleet_degraded_sources', 'Sources whose values are old.', []);
  const alarms = gauge('pagefleet_alarms', 'Alarms that stand.', []);
  const epoch = gauge('pagefleet_epoch', 'The number of the controller in charge.', []);

  function fill(status: FleetStatus): void {
    for (const [field, metric] of summary) metric.set(status.summary[field]);
    pods.reset();
    for (const one of status.pools) {
      for (const [state, count] of Object.entries(one.pods)) pods.set({ pool: one.name, state }, count);
      for (const [field, metric] of pool) metric.set({ pool: one.name }, one[field]);
    }
    for (const [field, metric] of worker) {
      metric.reset();
      for (const one of status.workers) {
        const value = one[field];
        if (value !== null) metric.inc({ worker: String(one.worker) }, value);
      }
    }
    leases.set(status.leases.length);
    booting.set(status.money.booting_today_usd);
    left.reset();
    for (const [per, one] of [
      ['hour', status.money.per_hour] as const,
      ['day', status.money.per_day] as const,
    ])
      if (one !== null) left.set({ per }, one.left_usd);
    degraded.set(status.degraded.length);
    alarms.set(status.alarms.length);
    epoch.set(status.epoch);
  }

  return {
    passSeconds: new Histogram({
      name: 'pagefleet_pass_seconds',
      help: 'Length of one controller pass.',
      buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3],
      registers,
    }),
    rents: counter('pagefleet_rents_total', 'Paid calls.', ['outcome']),
    terminates: counter('pagefleet_terminates_total', 'Calls that end a pod.', ['outcome']),
    probes: counter('pagefleet_probes_total', 'Probes of pods.', ['purpose', 'outcome']),
    listings: counter('pagefleet_listings_total', 'Listings of the account.', ['outcome']),
    generations: counter('pagefleet_nginx_generations_total', 'Generations offered to nginx.', ['outcome']),
    contentType: registry.contentType,
    render(status) {
      fill(status);
      return registry.metrics();
    },
  };
}
