import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterPaths } from '@pagefleet/runtime';
import { startFakeRunpod } from '@pagefleet/sim/fake-runpod';

/** A pod in the pretended cloud's table; the table never forgets one. */
interface CloudPod {
  readonly id: string;
  readonly request: { readonly name: string };
  readonly state: string;
  readonly intervals: readonly { readonly fromMs: number; readonly toMs: number | null }[];
}

export interface PretendedCloud {
  /** those that bill now */
  billing(): Promise<CloudPod[]>;
  all(): Promise<CloudPod[]>;
  costUsd(): Promise<number>;
  /** how the next pods behave; see `docs/fake-runpod.md` */
  nextCreates(times: number, knobs: Record<string, unknown>): Promise<void>;
  /** how a pod that exists behaves from now on */
  setPod(id: string, knobs: Record<string, unknown>): Promise<void>;
  setKnobs(changes: Record<string, unknown>): Promise<void>;
  /** what an operator does in RunPod's console */
  console(method: string, path: string, body?: unknown): Promise<Response>;
}

/** The admin side of the pretended RunPod that runs for a test's cluster. */
export function pretendedCloud(stateDir: string): PretendedCloud {
  const { rehearsalDir } = clusterPaths(stateDir);
  const url = () => `http://127.0.0.1:${readFileSync(join(rehearsalDir, 'port'), 'utf8').trim()}`;
  const json = { 'content-type': 'application/json' };
  const admin = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
    const answer = await fetch(`${url()}/_fake/${path}`, { method, ...sent });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const all = async () => ((await admin('GET', 'pods')) as { pods: CloudPod[] }).pods;
  return {
    all,
    billing: async () => (await all()).filter(isBilling),
    costUsd: async () => ((await admin('GET', 'ledger')) as { costUsd: number }).costUsd,
    nextCreates: async (times, knobs) => void (await admin('POST', 'next-creates', { times, knobs })),
    setPod: async (id, knobs) => void (await admin('PATCH', `pods/${id}`, knobs)),
    setKnobs: async (changes) => void (await admin('PATCH', 'knobs', changes)),
    console(method, path, body) {
      const key = readFileSync(join(rehearsalDir, 'api-key'), 'utf8').trim();
      const headers = { ...json, authorization: `Bearer ${key}`, 'user-agent': 'a-person' };
      return fetch(`${url()}/v2${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
  };
}

/** The table as the cloud left it on disk, after its end: pods that still bill. */
export async function leftInTheTable(stateDir: string): Promise<string[]> {
  const fake = await startFakeRunpod({ stateDir: clusterPaths(stateDir).rehearsalDir });
  try {
    return fake
      .pods()
      .filter(isBilling)
      .map(({ id }) => id);
  } finally {
    await fake.close();
  }
}

function isBilling({ intervals }: CloudPod): boolean {
  return intervals.some(({ toMs }) => toMs === null);
}
