import { type FakeRunpod, type FakeRunpodOptions, startFakeRunpod } from '@pagefleet/sim/fake-runpod';
import { afterEach } from 'vitest';

export const A40 = 'NVIDIA A40';

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** whatever JSON there is; tests look into it as they please */
  readonly body: Json;
}

interface Json {
  readonly [name: string]: Json;
}

/** A plain client of the fake's services. */
export interface Client {
  readonly fake: FakeRunpod;
  gql(query: string, variables?: unknown): Promise<Answered>;
  v2(method: string, path: string, body?: unknown): Promise<Answered>;
  v1(method: string, path: string, body?: unknown): Promise<Answered>;
  invoke(method: string, path: string, body?: unknown): Promise<Answered>;
  admin(method: string, path: string, body?: unknown): Promise<Answered>;
  /** the same, with another key; null = none */
  withKey(key: string | null): Client;
  /** a pod by v2, with what was not said filled in */
  create(body?: Record<string, unknown>): Promise<Answered>;
  deploy(input?: Record<string, unknown>): Promise<Answered>;
}

const running: FakeRunpod[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

/** A fake whose clock stands still until it is advanced, closed after the test. */
export async function startClient(options: FakeRunpodOptions = {}): Promise<Client> {
  const fake = await startFakeRunpod({ speed: 0, startMs: Date.UTC(2026, 10, 30, 12), ...options });
  running.push(fake);
  return clientOf(fake, fake.apiKey);
}

export function clientOf(fake: FakeRunpod, key: string | null): Client {
  const send = async (method: string, url: string, body?: unknown): Promise<Answered> => {
    const answer = await fetch(url, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: parse(text) };
  };
  const client: Client = {
    fake,
    gql: (query, variables) => send('POST', fake.graphqlUrl, { query, variables }),
    v2: (method, path, body) => send(method, fake.restV2Url + path, body),
    v1: (method, path, body) => send(method, fake.restV1Url + path, body),
    invoke: (method, path, body) => send(method, fake.invokeUrl + path, body),
    admin: (method, path, body) => send(method, `${fake.url}/_fake/${path}`, body),
    withKey: (other) => clientOf(fake, other),
    create: (body = {}) =>
      client.v2('POST', '/pods', {
        name: 'pod-1',
        image: 'acme/ocr:1',
        gpu: { id: A40, count: 1 },
        ports: ['8000/tcp', '8001/http'],
        ...body,
      }),
    deploy: (input = {}) => client.gql(DEPLOY, { input: deployInput(input) }),
  };
  return client;
}

export const DEPLOY =
  'mutation D($input: PodFindAndDeployOnDemandInput!) { podFindAndDeployOnDemand(input: $input) { id name costPerHr } }';

export function deployInput(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    cloudType: 'SECURE',
    gpuTypeId: A40,
    gpuCount: 1,
    name: 'pod-1',
    imageName: 'acme/ocr:1',
    ports: '8000/tcp,8001/http',
    ...more,
  };
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}
