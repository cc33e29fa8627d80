import { randomBytes } from 'node:crypto';
import { type ErrorCode, GATEWAY_PATHS, PAGE_HEADERS, PodHealth, PROOF_HEADERS } from '@pagefleet/contract';
import type { ProbeOutcome } from '@pagefleet/core';
import { constantTimeEqual, makeProof, podRoute } from '@pagefleet/runtime';
import { Compile } from 'typebox/compile';
import { Client } from 'undici';
import { classifyCallFailure } from './classify-call-failure.ts';
import { createLanes, type Lanes } from './lanes.ts';
import { trialChat, trialPage } from './trial-page.ts';

/** control calls have connections of their own, which page traffic cannot use. */
const CONTROL_LANES = 16;
/** Boots hang for long and come in waves, so they never stand in the way of a probe that restores a pod. */
const BOOT_LANES = 64;
const MAX_ANSWER_BYTES = 256 * 1_024;

export interface ProbeTarget {
  readonly url: string;
  readonly token: string;
}

/** `model`: of a stock pod, which is asked for a word of chat; null: the pod takes pages. */
interface TrialTarget extends ProbeTarget {
  readonly model: string | null;
}

export interface ProbeAnswer {
  readonly outcome: ProbeOutcome;
  /** null unless the pod proved who it is */
  readonly health: PodHealth | null;
  /** the pod's own words, where it says why */
  readonly detail?: string;
}

export interface PodProber {
  /** Asks `/healthz` with a fresh connection, and believes only an answer that proves the pod's token. */
  probe(target: ProbeTarget, options: { timeoutMs: number; lane: 'boot' | 'control' }): Promise<ProbeAnswer>;
  /** Sends one small page of our own, or what stands for it (L6). */
  trial(target: TrialTarget, timeoutMs: number): Promise<ProbeAnswer>;
  close(): Promise<void>;
}

const health = Compile(PodHealth);

export function createPodProber(clusterId: string): PodProber {
  const clients = new Set<Client>();
  const control = createLanes(CONTROL_LANES);
  const boot = createLanes(BOOT_LANES);

  /** That a connection can be opened is half of what a probe asks, and it proves one pod: each call has its own. */
  async function withClient<T>({ url, token }: ProbeTarget, run: (client: Client) => Promise<T>): Promise<T> {
    const { origin, connect } = podRoute(url, token);
    const client = new Client(origin, { connect, pipelining: 0, maxResponseSize: MAX_ANSWER_BYTES });
    clients.add(client);
    try {
      return await run(client);
    } finally {
      clients.delete(client);
      await client.destroy();
    }
  }

  return {
    probe: (target, { timeoutMs, lane }) =>
      inLane(lane === 'boot' ? boot : control, timeoutMs, () =>
        withClient(target, (client) => askHealth(client, target, timeoutMs)),
      ),
    trial: (target, timeoutMs) =>
      inLane(control, timeoutMs, () =>
        withClient(target, (client) => sendTrial(client, { ...target, clusterId, timeoutMs })),
      ),
    async close() {
      await Promise.all([...clients].map((client) => client.destroy()));
    },
  };
}

async function inLane(
  lanes: Lanes,
  timeoutMs: number,
  run: () => Promise<ProbeAnswer>,
): Promise<ProbeAnswer> {
  const leave = await lanes.enter(timeoutMs);
  if (leave === null) return { outcome: 'ours', health: null };
  try {
    return await run();
  } catch (error) {
    return { outcome: classifyCallFailure(error), health: null };
  } finally {
    leave();
  }
}

async function askHealth(client: Client, target: ProbeTarget, timeoutMs: number): Promise<ProbeAnswer> {
  const nonce = randomBytes(16).toString('hex');
  const response = await client.request({
    method: 'GET',
    path: GATEWAY_PATHS.health,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      [PROOF_HEADERS.nonce]: nonce,
      [PROOF_HEADERS.ownerProof]: makeProof(target.token, 'owner', nonce),
    },
  });
  const text = await response.body.text();
  const proof = response.headers[PROOF_HEADERS.podProof];
  const isProven =
    typeof proof === 'string' && constantTimeEqual(proof, makeProof(target.token, 'pod', nonce));
  if (!isProven) return { outcome: 'unproven', health: null };
  if (response.statusCode === 409) return { outcome: 'wrong-owner', health: null };
  const said = parseJson(text);
  // Proven but not understood: it is our pod and it lives; a version that speaks otherwise is no reason to end it.
  if (!health.Check(said)) return { outcome: 'starting', health: null };
  const isUp = said.engine === 'ready' || said.engine === 'busy';
  if (said.engineFault === undefined || isUp) return { outcome: said.engine, health: said };
  return { outcome: 'unfit', health: said, detail: said.engineFault };
}

async function sendTrial(
  client: Client,
  target: TrialTarget & { clusterId: string; timeoutMs: number },
): Promise<ProbeAnswer> {
  const { path, type, body, isReading } = target.model === null ? trialPage() : trialChat(target.model);
  const response = await client.request({
    method: 'POST',
    path,
    signal: AbortSignal.timeout(target.timeoutMs),
    headersTimeout: 0,
    bodyTimeout: 0,
    headers: {
      authorization: `Bearer ${target.token}`,
      'content-type': type,
      [PAGE_HEADERS.pageId]: `trial-${randomBytes(12).toString('hex')}`,
      [PAGE_HEADERS.owner]: target.clusterId,
      [PAGE_HEADERS.deadlineMs]: String(target.timeoutMs),
    },
    body,
  });
  const said = parseJson(await response.body.text());
  return { outcome: trialOutcome(response.statusCode, said, isReading), health: null };
}

function trialOutcome(status: number, said: unknown, isReading: (said: unknown) => boolean): ProbeOutcome {
  if (status === 200) return isReading(said) ? 'page-read' : 'page-refused';
  const code = (said as { code?: ErrorCode } | null)?.code;
  if (status === 409 && code === 'wrong_owner') return 'wrong-owner';
  // A full pod reads the pages of others: neither a refusal nor a reading, and nothing was learnt.
  if (status === 429) return 'ours';
  if (status === 400) return 'page-faulty';
  return 'page-refused';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
