import type { PodRecord } from './pod-record.ts';

/** What is true of a pod at one instant. */
export interface PodNow {
  /** it is in lists and can be read, stopped and ended */
  readonly visible: boolean;
  readonly containerUp: boolean;
  /** something takes connections at its ports */
  readonly listening: boolean;
  readonly uptimeMs: number;
}

export function observePod(pod: PodRecord, nowMs: number): PodNow {
  const upAtMs = pod.startedAtMs + pod.knobs.bootMs;
  const containerUp = pod.state === 'running' && nowMs >= upAtMs && isContainerAlive(pod, nowMs);
  const inGrace = pod.graceUntilMs !== null && nowMs < pod.graceUntilMs;
  const listening = (containerUp || inGrace) && nowMs >= upAtMs + pod.knobs.listenerDelayMs;
  return {
    visible: pod.state !== 'terminated' && !pod.vanished && nowMs >= pod.createdAtMs + pod.knobs.invisibleMs,
    containerUp,
    listening: listening && !pod.knobs.neverBoots,
    uptimeMs: containerUp ? nowMs - upAtMs : 0,
  };
}

function isContainerAlive({ knobs, startedAtMs, containerExitedAtMs }: PodRecord, nowMs: number): boolean {
  if (knobs.neverBoots || containerExitedAtMs !== null) return false;
  const { containerExitsAfterMs: after } = knobs;
  return after === null || nowMs < startedAtMs + knobs.bootMs + after;
}

export type DueEvent = {
  readonly atMs: number;
  readonly kind: 'outbid' | 'exited' | 'stop-after' | 'terminate-after';
};

/** The next thing that happens to a running pod by itself, if it is due. */
export function dueEvent(pod: PodRecord, nowMs: number): DueEvent | null {
  const events = plannedEvents(pod).filter(({ atMs }) => atMs <= nowMs);
  return events.sort((a, b) => a.atMs - b.atMs)[0] ?? null;
}

/** When that is; infinite if nothing is planned. */
export function firstDueMs(pod: PodRecord): number {
  return Math.min(...plannedEvents(pod).map(({ atMs }) => atMs));
}

/** Every later instant at which something about the pod changes. */
export function nextChangeMs(pod: PodRecord, nowMs: number): number {
  if (pod.state !== 'running' && pod.graceUntilMs === null) return Number.POSITIVE_INFINITY;
  const upAtMs = pod.startedAtMs + pod.knobs.bootMs;
  const { containerExitsAfterMs: after } = pod.knobs;
  const instants = [
    upAtMs,
    upAtMs + pod.knobs.listenerDelayMs,
    after === null ? Number.POSITIVE_INFINITY : upAtMs + after,
    pod.graceUntilMs ?? Number.POSITIVE_INFINITY,
    ...plannedEvents(pod).map(({ atMs }) => atMs),
  ];
  return Math.min(...instants.filter((instant) => instant > nowMs));
}

function plannedEvents({ state, knobs, createdAtMs, startedAtMs, request }: PodRecord): DueEvent[] {
  // A pod that was ended stays ended; a stopped one can only still be removed by its own timer.
  if (state === 'terminated') return [];
  const events: DueEvent[] = [];
  const add = (kind: DueEvent['kind'], atMs: number | null): void => {
    if (atMs !== null) events.push({ kind, atMs });
  };
  add('terminate-after', request.terminateAfterMs);
  if (state !== 'running') return events;
  add('stop-after', request.stopAfterMs);
  // A pod that was started again lives through neither a second time.
  if (startedAtMs !== createdAtMs) return events;
  add('outbid', knobs.outbidAfterMs === null ? null : createdAtMs + knobs.outbidAfterMs);
  add('exited', knobs.exitedAfterMs === null ? null : createdAtMs + knobs.exitedAfterMs);
  return events;
}
