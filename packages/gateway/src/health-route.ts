import { POD_SETTINGS_VERSION, type PodHealth, PROOF_HEADERS } from '@pagefleet/contract';
import { constantTimeEqual, makeProof } from '@pagefleet/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CpuMeter } from './cpu-meter.ts';
import type { Pod } from './pod.ts';

const NONCE_MAX = 200;

interface HealthFacts {
  readonly unknownSettings: readonly string[];
  readonly warnings?: readonly string[];
  readonly cpu: CpuMeter;
}

/** Answers from memory in well under a millisecond, whatever the engine does. */
export function addHealthRoutes(
  app: FastifyInstance,
  pod: Pod,
  { unknownSettings, warnings = [], cpu }: HealthFacts,
): void {
  const startedAtMs = pod.monotonicMs();
  const { token, ...settings } = pod.settings;

  function health(): PodHealth {
    const engineFault = pod.engine.fault();
    return {
      v: 1,
      podId: settings.podId,
      engine: pod.engine.state(),
      ...(engineFault === null ? {} : { engineFault }),
      engineName: pod.engine.name(),
      engineVersion: pod.engine.version(),
      width: settings.width,
      inflight: pod.gate.running(),
      waiting: pod.gate.waiting(),
      pagesDone: pod.pagesDone,
      uptimeMs: Math.round(pod.monotonicMs() - startedAtMs),
      cpuPercent: cpu.percent(),
      rssBytes: process.memoryUsage.rss(),
      settings,
      settingsVersion: POD_SETTINGS_VERSION,
      unknownSettings: [...unknownSettings],
      ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
      configHash: settings.configHash,
    };
  }

  function isFromOwner({ headers }: FastifyRequest, nonce: string | null): boolean {
    if (pod.isBearer(headers.authorization)) return true;
    const proof = headers[PROOF_HEADERS.ownerProof];
    return (
      nonce !== null &&
      typeof proof === 'string' &&
      constantTimeEqual(proof, makeProof(token, 'owner', nonce))
    );
  }

  for (const path of ['/healthz', '/health']) {
    app.get(path, async (request, reply) => {
      const given = request.headers[PROOF_HEADERS.nonce];
      const nonce = typeof given === 'string' && given !== '' && given.length <= NONCE_MAX ? given : null;
      if (nonce !== null) reply.header(PROOF_HEADERS.podProof, makeProof(token, 'pod', nonce));
      if (isFromOwner(request, nonce)) pod.owner.hearAgain();
      return health();
    });
  }
}
