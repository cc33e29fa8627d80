import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, type Logger } from '@pagefleet/runtime';
import { type Account, newAccount } from './account.ts';
import { serveAdmin } from './admin/serve-admin.ts';
import { createClock } from './clock.ts';
import { createCloud } from './cloud.ts';
import { createControls, type FakeRunpodControls } from './controls.ts';
import { serveCall } from './http/serve-call.ts';
import { openJournal } from './journal.ts';
import { Bodies } from './pods/bodies.ts';
import { answerHealth, type LightPodHandler } from './pods/light-pod.ts';
import { createWaker } from './pods/waker.ts';
import { type ApiKey, Service } from './service.ts';
import { changeKnobs, type DeepPartial, type ServiceKnobs } from './table/knobs.ts';

export interface FakeRunpodOptions {
  /** 0, and left out = any free port */
  readonly port?: number;
  /** the first one is given to clients; one full key if left out */
  readonly apiKeys?: readonly ApiKey[];
  /** null, and left out = nothing outlives this instance */
  readonly stateDir?: string | null;
  readonly startMs?: number;
  /** 1 = as real time, and if left out; 0 = it stands still until it is advanced */
  readonly speed?: number;
  readonly knobs?: DeepPartial<ServiceKnobs>;
  readonly logger?: Logger;
  /** answers at the ports of played pods, instead of `/healthz` alone */
  readonly lightPod?: LightPodHandler;
}

export interface FakeRunpod extends FakeRunpodControls {
  readonly url: string;
  readonly graphqlUrl: string;
  readonly restV2Url: string;
  readonly restV1Url: string;
  readonly invokeUrl: string;
  readonly port: number;
  /** a full account key */
  readonly apiKey: string;
  /** what the four services know, to be looked at; it is changed by the controls */
  readonly account: Account;
  /** Ends it. Pods that are processes end with an instance that has no state folder, and outlive one that has. */
  close(options?: { endProcesses?: boolean }): Promise<void>;
}

const DEFAULT_KEYS: readonly ApiKey[] = [{ key: 'rpa_fake_account_key', mayWrite: true }];

const KEEP_ALIVE_MS = 75_000;

/** RunPod on a loopback port: GraphQL, REST v1 and v2, the serverless services, the proxy, and pods behind them. */
export async function startFakeRunpod(options: FakeRunpodOptions = {}): Promise<FakeRunpod> {
  const { stateDir = null, apiKeys = DEFAULT_KEYS, speed = 1 } = options;
  const logger = options.logger ?? createLogger({ component: 'fake-runpod', level: 'silent' });
  const account = newAccount();
  const { journal, anchor } = openJournal(stateDir, account);
  changeKnobs(account.knobs, options.knobs ?? {});
  const clock = createClock(anchor ?? { realMs: Date.now(), fakeMs: options.startMs ?? Date.now(), speed });
  journal.clock(clock.anchor());
  const folder = stateDir ?? mkdtempSync(join(tmpdir(), 'fake-runpod-'));

  const server = createServer((request, response) => void serveCall(service, admin, { request, response }));
  // An idle connection is ended by the client: one that is reused as we close it would look like a fault of ours.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const port = await listen(server, options.port ?? 0);
  const url = `http://127.0.0.1:${port}`;
  const waker = createWaker({ account, clock, settle: () => cloud.settle(), bodies: () => bodies });
  const cloud = createCloud({ account, clock, journal, touched: waker.soon });
  const bodies = new Bodies({
    pods: () => account.pods.values(),
    clock,
    logger,
    processes: { podsDir: join(folder, 'pods'), baseUrl: url },
    answer: options.lightPod ?? answerHealth,
    changed: (pod) => cloud.save(pod),
    async movePorts(pod) {
      await cloud.allotPorts(pod);
      cloud.save(pod);
    },
  });
  const service = new Service({ account, clock, cloud, journal, logger, keys: apiKeys, baseUrl: () => url });
  const controls = createControls({ service, bodies });
  const admin = serveAdmin(service, controls);
  await bodies.adopt();
  clock.onJump(() => {
    journal.clock(clock.anchor());
    waker.soon();
  });
  waker.soon();

  return {
    ...controls,
    url,
    graphqlUrl: `${url}/graphql`,
    restV2Url: `${url}/v2`,
    restV1Url: `${url}/v1`,
    invokeUrl: `${url}/invoke/v2`,
    port,
    apiKey: apiKeys[0]?.key ?? '',
    account,
    async close({ endProcesses = stateDir === null } = {}) {
      waker.close();
      clock.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await bodies.close({ endProcesses });
      if (stateDir === null) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('the fake has no port'));
      else resolve(address.port);
    });
  });
}
