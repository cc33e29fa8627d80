import type { FleetStatus } from '@pagefleet/contract';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Counters that passes and actions feed; gauges are filled from one status snapshot at each scrape. */
export interface ControllerMetrics {
  readonly passSeconds: Histogram;
  readonly rents: Counter<'outcome'>;
  readonly terminates: Counter<'outcome'>;
  readonly probes: Counter<'purpose' | 'outcome'>;
  readonly listings: Counter<'outcome'>;
  readonly generations: Counter<'outcome'>;
  render(status: FleetStatus): Promise<string>;
  readonly contentType: string;
}

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

  const summary = gauge('pagefleet_summary', 'Fields of the status summary.', ['field']);
  const podsByState = gauge('pagefleet_pods', 'Pods by pool and state.', ['pool', 'state']);
  const podsEffectiveMax = gauge('pagefleet_effective_max_pods', 'The cap in force.', ['pool']);
  const inFlight = gauge('pagefleet_pages_in_flight', 'Pages on pods.', ['pool']);
  const waiting = gauge('pagefleet_pages_waiting', 'Pages in the queue.', ['pool']);
  const rate = gauge('pagefleet_pages_per_second', 'Finished ÷ wall time, last minute.', ['pool']);
  const degraded = gauge('pagefleet_degraded_sources', 'Sources whose values are old.', []);
  const alarms = gauge('pagefleet_alarms', 'Alarms that stand.', []);
  const epoch = gauge('pagefleet_epoch', 'The number of the controller in charge.', []);

  function fill(status: FleetStatus): void {
    for (const [field, value] of Object.entries(status.summary)) summary.set({ field }, value);
    podsByState.reset();
    for (const pool of status.pools) {
      for (const [state, count] of Object.entries(pool.pods))
        podsByState.set({ pool: pool.name, state }, count);
      podsEffectiveMax.set({ pool: pool.name }, pool.effective_max_pods);
      inFlight.set({ pool: pool.name }, pool.in_flight);
      waiting.set({ pool: pool.name }, pool.waiting);
      rate.set({ pool: pool.name }, pool.pages_per_second);
    }
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
