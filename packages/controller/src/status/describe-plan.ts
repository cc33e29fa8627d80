import type { FleetPlan } from '@pagefleet/contract';
import { isEmptyPlan, type Plan, type Registry } from '@pagefleet/core';

/** What `GET /v1/fleet/plan` answers: what the next pass would do, and why. */
export function describePlan(plan: Plan, registry: Registry): FleetPlan {
  const nameOf = (podKey: string) => {
    const pod = registry.get(podKey);
    return pod?.id ?? pod?.name ?? podKey;
  };
  const steps = plan.transitions.map(({ podKey, event, reason }) => ({
    kind: event.kind,
    pod: nameOf(podKey),
    why: reason,
  }));
  const rents = plan.actions.flatMap((action) =>
    action.kind === 'rent' ? [{ kind: 'rent', pool: action.pool, why: action.reason }] : [],
  );
  const adoptions = plan.adoptions.map(({ pod, reason }) => ({
    kind: 'adopt',
    pod: pod.id ?? pod.name,
    pool: pod.pool,
    why: reason,
  }));
  return {
    at: new Date(plan.nowMs).toISOString(),
    actions: [...adoptions, ...steps, ...rents],
    reasons: reasonsOf(plan),
    wake_in_ms: Math.max(0, Math.round(plan.wakeAtMs - plan.nowMs)),
  };
}

function reasonsOf(plan: Plan): string[] {
  const pools = plan.pools.map(({ pool, demand, capacity, note }) => {
    const cap = plan.caps.pools.get(pool);
    const why = note === '' ? 'nothing to do' : note;
    return `${pool}: ${demand} pages offered, room for ${capacity}; ${why} (${cap?.why ?? 'no cap'})`;
  });
  return [...pools, ...plan.alarms];
}

/** The one line of a pass that changed something; null = it changed nothing. */
export function passLogLine(plan: Plan): Record<string, unknown> | null {
  if (isEmptyPlan(plan)) return null;
  const isQuiet = plan.adoptions.length === 0 && plan.transitions.every((one) => one.from === one.to);
  const kinds = plan.actions.map((action) => action.kind);
  if (isQuiet && !kinds.includes('rent') && !kinds.includes('terminate')) return null;
  return {
    pools: plan.pools.map(({ pool, demand, capacity, rents, drains }) => ({
      pool,
      demand,
      capacity,
      rents,
      drains,
    })),
    adopts: plan.adoptions.length,
    forgets: plan.forget.length,
    actions: kinds,
    why: [
      ...plan.adoptions.map((one) => one.reason),
      ...plan.transitions.filter((one) => one.from !== one.to).map((one) => one.reason),
      ...plan.actions.filter((one) => one.kind === 'rent').map((one) => one.reason),
    ],
  };
}
