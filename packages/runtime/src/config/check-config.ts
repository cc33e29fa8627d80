import { type Config, formatBytes, formatDuration, type Pool } from '@pagefleet/contract';
import { checkEngines } from './check-engine.ts';
import { checkMoney } from './check-money.ts';
import { checkEnvironments } from './check-told.ts';
import type { ConfigIssue } from './config-issue.ts';

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;
const MAX_PODS_IN_ALL = 512;
/** what the kernel takes as the path of a socket, without its final zero byte */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
/** the longest socket in a state directory; supervisord first makes it with its pid behind */
const LONGEST_SOCKET = '/supervisor/supervisor.sock.4194304';

export interface Contradiction extends ConfigIssue {
  /** the other settings it speaks of; with one of them wrong in itself it says nothing */
  readonly involves: readonly string[];
  /** it only promises what never happens: a fault in a value that somebody wrote, none in our own */
  readonly harmlessAsDefault?: true;
}

/** What no single setting's bounds can say: settings that contradict each other. */
export function checkConfig(config: Config): Contradiction[] {
  return [
    ...checkListen(config),
    ...checkWatchdog(config),
    ...checkBytes(config),
    ...checkConnectTimeout(config),
    ...checkKeys(config),
    ...config.pools.flatMap((pool, index) => checkPool(config, pool, `pools[${index}]`)),
    ...checkNames(config),
    ...checkFallbacks(config),
    ...checkSums(config),
    ...checkEngines(config),
    ...checkEnvironments(config),
    ...checkMoney(config),
    ...checkStateDir(config),
  ];
}

function checkListen({ listen, apiKeys }: Config): Contradiction[] {
  if (LOOPBACK.test(listen.host) || apiKeys.length > 0) return [];
  const expected = 'a loopback address, such as 127.0.0.1, because api_keys is empty';
  return [{ path: 'listen.host', got: JSON.stringify(listen.host), expected, involves: ['api_keys'] }];
}

function checkWatchdog({ watchdog }: Config): Contradiction[] {
  if (watchdog.stallMs < watchdog.fatalMs) return [];
  const expected = `less than watchdog.fatal (${formatDuration(watchdog.fatalMs)})`;
  const got = formatDuration(watchdog.stallMs);
  return [{ path: 'watchdog.stall', got, expected, involves: ['watchdog.fatal'] }];
}

/** A body lies in memory or in the spool, whole, and in one worker, which has its share of both. */
function checkBytes({ limits, workers }: Config): Contradiction[] {
  const room = Math.max(limits.memoryBytes, limits.spoolBytes);
  const share = Math.ceil(room / Math.max(1, workers));
  if (limits.maxBodyBytes <= share) return [];
  const path = 'limits.max_body';
  const got = formatBytes(limits.maxBodyBytes);
  const involves = ['limits.memory', 'limits.spool'];
  const larger = `at most the larger of limits.memory and limits.spool (${formatBytes(room)})`;
  const why = 'a larger body could never be held';
  if (limits.maxBodyBytes > room) return [{ path, got, expected: `${larger}: ${why}`, involves }];
  const expected = `${larger}, divided by workers (${workers}): ${why}`;
  return [{ path, got, expected, involves: [...involves, 'workers'], harmlessAsDefault: true }];
}

function checkConnectTimeout({ limits }: Config): Contradiction[] {
  if (limits.connectTimeoutMs <= limits.pageDeadlineMs) return [];
  return [
    {
      path: 'limits.connect_timeout',
      got: formatDuration(limits.connectTimeoutMs),
      expected: `at most limits.page_deadline (${formatDuration(limits.pageDeadlineMs)}): no page waits longer`,
      involves: ['limits.page_deadline'],
      harmlessAsDefault: true,
    },
  ];
}

function checkKeys({ apiKeys }: Config): Contradiction[] {
  const digests = apiKeys.map((key) => key.sha256);
  return apiKeys.flatMap((key, index) => {
    const first = digests.indexOf(key.sha256);
    if (first === index) return [];
    const path = `api_keys[${index}].sha256`;
    const other = `api_keys[${first}].sha256`;
    return [{ path, got: `the digest of ${other}`, expected: 'a key of its own', involves: [other] }];
  });
}

function checkPool(config: Config, pool: Pool, path: string): Contradiction[] {
  return [...checkPodNumbers(config, pool, path), ...checkPodTimes(config, pool, path)];
}

function checkPodNumbers({ limits }: Config, pool: Pool, path: string): Contradiction[] {
  const found: Contradiction[] = [];
  if (pool.minPods > pool.maxPods) {
    found.push({
      path: `${path}.min_pods`,
      got: String(pool.minPods),
      expected: `at most max_pods (${pool.maxPods})`,
      involves: [`${path}.max_pods`],
    });
  }
  if (pool.width > limits.maxInflightPerPod) {
    found.push({
      path: `${path}.width`,
      got: String(pool.width),
      expected: `at most limits.max_inflight_per_pod (${limits.maxInflightPerPod})`,
      involves: ['limits.max_inflight_per_pod'],
    });
  }
  return found;
}

/** The longest a pod may take for each thing, against who waits for it. */
function checkPodTimes({ limits, control }: Config, pool: Pool, path: string): Contradiction[] {
  const deadline = `at most limits.page_deadline (${formatDuration(limits.pageDeadlineMs)})`;
  const found: Contradiction[] = [];
  if (pool.engine === 'tesseract' && pool.pageTimeoutMs > limits.pageDeadlineMs) {
    found.push({
      path: `${path}.page_timeout`,
      got: formatDuration(pool.pageTimeoutMs),
      expected: `${deadline}: the page has failed by then`,
      involves: ['limits.page_deadline'],
      harmlessAsDefault: true,
    });
  }
  if (pool.engine === 'sleep' && pool.sleepMs > limits.pageDeadlineMs) {
    found.push({
      path: `${path}.sleep`,
      got: formatDuration(pool.sleepMs),
      expected: `${deadline}: every page would fail`,
      involves: ['limits.page_deadline'],
    });
  }
  if (pool.bootEstimateMs > pool.bootDeadlineMs) {
    found.push({
      path: `${path}.boot_estimate`,
      got: formatDuration(pool.bootEstimateMs),
      expected: `at most boot_deadline (${formatDuration(pool.bootDeadlineMs)}): a pod that boots longer is ended`,
      involves: [`${path}.boot_deadline`],
    });
  }
  if (pool.deadManMs <= control.probeIntervalMs) {
    found.push({
      path: `${path}.dead_man`,
      got: formatDuration(pool.deadManMs),
      expected: `more than control.probe_interval (${formatDuration(control.probeIntervalMs)}): an idle pod may hear from its owner no more often`,
      involves: ['control.probe_interval'],
    });
  }
  return found;
}

/** A model's name must lead to one pool, and pools are asked for by their own name as well. */
function checkNames({ pools }: Config): Contradiction[] {
  const names = pools.map((pool, index) => ({ name: pool.name, path: `pools[${index}].name` }));
  const models = pools.flatMap((pool, index) =>
    pool.models.map((name, at) => ({ name, path: `pools[${index}].models[${at}]` })),
  );
  const adapters = pools.flatMap(({ vllm }, index) =>
    vllm.loras.map(({ name }, at) => ({ name, path: `pools[${index}].vllm.loras[${at}].name` })),
  );
  const owner = new Map<string, string>();
  const found: Contradiction[] = [];
  for (const { name, path } of [...names, ...models, ...adapters]) {
    const other = owner.get(name);
    if (other === undefined) owner.set(name, path);
    else
      found.push({
        path,
        got: JSON.stringify(name),
        expected: `a name other than ${other}`,
        involves: [other],
      });
  }
  return found;
}

function checkFallbacks({ pools }: Config): Contradiction[] {
  return pools.flatMap(({ name, fallback }, index) => {
    if (fallback === '') return [];
    const others = pools.filter((pool) => pool.name !== name).map((pool) => pool.name);
    if (others.includes(fallback)) return [];
    const expected = `the name of another pool (${others.join(', ') || 'there is none'})`;
    return [{ path: `pools[${index}].fallback`, got: JSON.stringify(fallback), expected, involves: [] }];
  });
}

function checkSums({ pools }: Config): Contradiction[] {
  const total = pools.reduce((sum, pool) => sum + pool.maxPods, 0);
  if (total <= MAX_PODS_IN_ALL) return [];
  const got = `max_pods of ${total} in all`;
  return [{ path: 'pools', got, expected: `at most ${MAX_PODS_IN_ALL} over all pools`, involves: [] }];
}

/** nginx and supervisord read paths from their own configuration files, which have no quoting for these. */
export const STRANGE_IN_A_PATH = /["'\\$%;#{}\s]/;

function checkStateDir({ stateDir }: Config): Contradiction[] {
  const strange = STRANGE_IN_A_PATH.exec(stateDir);
  if (strange !== null) {
    const got = `${JSON.stringify(stateDir)}, which holds the character ${JSON.stringify(strange[0])}`;
    return [{ path: 'state_dir', got, expected: 'a path that nginx and supervisord can take', involves: [] }];
  }
  if (Buffer.byteLength(stateDir + LONGEST_SOCKET) <= MAX_SOCKET_PATH_BYTES) return [];
  const most = MAX_SOCKET_PATH_BYTES - LONGEST_SOCKET.length;
  const expected = `a path of at most ${most} bytes: the system takes no longer paths for the sockets in it`;
  return [{ path: 'state_dir', got: JSON.stringify(stateDir), expected, involves: [] }];
}
