import type { FleetStatus, PodStatus } from '@pagefleet/contract';

/** What differs between two snapshots that a person watching wants to know, one sentence each. */
export function describeChanges(before: FleetStatus | null, now: FleetStatus): string[] {
  return [...podChanges(before, now), ...workerChanges(before, now), ...newAlarms(before, now)];
}

function podChanges(before: FleetStatus | null, now: FleetStatus): string[] {
  const old = new Map((before?.pods ?? []).map((pod) => [nameOf(pod), pod.state]));
  const changed = now.pods
    .filter((pod) => old.get(nameOf(pod)) !== pod.state)
    .map((pod) => {
      const from = old.get(nameOf(pod));
      const why = pod.reason ? `: ${pod.reason}` : '';
      return `pod ${nameOf(pod)} ${from ? `${from} → ${pod.state}` : pod.state}${why}`;
    });
  const present = new Set(now.pods.map(nameOf));
  const gone = (before?.pods ?? [])
    .filter((pod) => !present.has(nameOf(pod)) && pod.state !== 'terminated')
    .map((pod) => `pod ${nameOf(pod)} ${pod.state} → gone`);
  return [...changed, ...gone];
}

/** The name is chosen before the rent and stays; the id is the name until the provider has given one. */
function nameOf(pod: PodStatus): string {
  return pod.name || pod.id;
}

/** The first snapshot only tells who is there; that is what `up` has just said. */
function workerChanges(before: FleetStatus | null, now: FleetStatus): string[] {
  if (!before) return [];
  const old = new Map(before.workers.map((worker) => [worker.boot_id, worker.state]));
  return now.workers
    .filter((worker) => old.get(worker.boot_id) !== worker.state)
    .map(
      (worker) =>
        `${worker.worker < 0 ? 'backup' : `worker ${worker.worker}`} (process ${worker.pid}) ${worker.state}`,
    );
}

function newAlarms(before: FleetStatus | null, now: FleetStatus): string[] {
  const known = new Set((before?.alarms ?? []).map((alarm) => alarm.code + alarm.message));
  return now.alarms
    .filter((alarm) => !known.has(alarm.code + alarm.message))
    .map((alarm) => `ALARM ${alarm.code}: ${alarm.message}`);
}
