import { randomUUID } from 'node:crypto';
import { PodHealth, PROOF_HEADERS } from '@pagefleet/contract';
import { constantTimeEqual, type Logger, makeProof } from '@pagefleet/runtime';
import { Compile } from 'typebox/compile';
import type { PodEntry, PodTable } from './pod-table.ts';

export interface ProbeOptions {
  readonly pods: PodTable;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly settings: { readonly probeIntervalMs: number; readonly probeTimeoutMs: number };
  /** A pod takes pages again. */
  onRestored(): void;
}

export interface SuspectProber {
  /** Probes the suspects that are due. */
  tick(): void;
}

const health = Compile(PodHealth);

/**
 * An unreachable pod is probed at once and then at the interval, by the controller and, so that pages go on while that is
 * away, by the worker that suspects it. An answer that proves the pod's identity restores it; the suspicion
 * stays in the reports until the controller has answered it.
 */
export function createSuspectProber(options: ProbeOptions): SuspectProber {
  const { pods, nowMs, logger } = options;
  /** suspicion last probed, and when */
  const probed = new Map<string, { readonly n: number; readonly atMs: number }>();

  function isDue(pod: PodEntry): boolean {
    const suspicion = pods.suspects.suspicion(pod.id);
    if (suspicion?.kind !== 'unreachable' || pod.health === 'good') return false;
    const last = probed.get(pod.id);
    if (last?.n !== suspicion.n) return true;
    return nowMs() - last.atMs >= options.settings.probeIntervalMs;
  }

  async function probe(pod: PodEntry): Promise<void> {
    const suspicion = pods.suspects.suspicion(pod.id);
    if (!suspicion) return;
    probed.set(pod.id, { n: suspicion.n, atMs: nowMs() });
    if (!(await answers(pod, options.settings.probeTimeoutMs))) return;
    if (pods.find(pod.id) !== pod || pods.suspects.suspicion(pod.id)?.n !== suspicion.n) return;
    pods.suspects.succeed(pod.id, { trial: false });
    logger.info({ pod: pod.id, suspicion: suspicion.n }, 'pod_answers_again');
    options.onRestored();
  }

  return {
    tick() {
      for (const pod of pods.all()) if (isDue(pod)) void probe(pod);
      for (const id of probed.keys()) if (!pods.find(id)) probed.delete(id);
    },
  };
}

/** Alive, and the pod it says it is. A gateway that says `dead` is a failed probe. */
async function answers(pod: PodEntry, timeoutMs: number): Promise<boolean> {
  const nonce = randomUUID();
  const headers = {
    [PROOF_HEADERS.nonce]: nonce,
    [PROOF_HEADERS.ownerProof]: makeProof(pod.token, 'owner', nonce),
  };
  try {
    const { status, text, proof } = await pod.client.health(headers, AbortSignal.timeout(timeoutMs));
    if (status !== 200 || proof === null || !constantTimeEqual(proof, makeProof(pod.token, 'pod', nonce)))
      return false;
    const body: unknown = JSON.parse(text);
    return health.Check(body) && body.engine !== 'dead';
  } catch {
    return false;
  }
}
