import type { Config } from '@pagefleet/contract';
import type { ConfigIssue } from './config-issue.ts';

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;
/** A slot older than this is swept, so nothing that holds one may be allowed to take as long. */
const SLOT_AGE_LIMIT_MS = 15 * 60_000;
const MAX_PODS_IN_ALL = 512;
/** what the kernel takes as the path of a socket, without its final zero byte */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
/** the longest socket in a state directory; supervisord first makes it with its pid behind */
const LONGEST_SOCKET = '/supervisor/supervisor.sock.4194304';

/** What no single setting's bounds can say: settings that contradict each other. */
export function checkConfig(config: Config): ConfigIssue[] {
  return [
    ...checkListen(config),
    ...checkTimes(config),
    ...checkBytes(config),
    ...checkKeys(config),
    ...config.pools.flatMap((pool, index) => checkPool(config, pool, `pools[${index}]`)),
    ...checkNames(config),
    ...checkSums(config),
    ...checkStateDir(config),
  ];
}

function checkListen({ listen, apiKeys }: Config): ConfigIssue[] {
  if (LOOPBACK.test(listen.host) || apiKeys.length > 0) return [];
  return [
    issue(
      'listen.host',
      JSON.stringify(listen.host),
      'a loopback address, such as 127.0.0.1, because api_keys is empty',
    ),
  ];
}

function checkTimes({ limits, watchdog }: Config): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  if (limits.pageDeadlineMs >= SLOT_AGE_LIMIT_MS) {
    issues.push(
      issue('limits.page_deadline', `${limits.pageDeadlineMs} ms`, 'less than the slot age limit of 15m'),
    );
  }
  if (watchdog.stallMs >= watchdog.fatalMs) {
    issues.push(
      issue('watchdog.stall', `${watchdog.stallMs} ms`, `less than watchdog.fatal (${watchdog.fatalMs} ms)`),
    );
  }
  return issues;
}

function checkBytes({ limits }: Config): ConfigIssue[] {
  const room = limits.memoryBytes + limits.spoolBytes;
  if (limits.maxBodyBytes <= room) return [];
  return [
    issue(
      'limits.max_body',
      `${limits.maxBodyBytes} bytes`,
      `at most limits.memory + limits.spool (${room} bytes): a larger body could never be held`,
    ),
  ];
}

function checkKeys({ apiKeys }: Config): ConfigIssue[] {
  const digests = apiKeys.map((key) => key.sha256);
  return apiKeys.flatMap((key, index) =>
    digests.indexOf(key.sha256) === index
      ? []
      : [
          issue(
            `api_keys[${index}].sha256`,
            'the digest of another key again',
            'a key of its own for each entry',
          ),
        ],
  );
}

function checkPool({ limits }: Config, pool: Config['pools'][number], path: string): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  if (pool.minPods > pool.maxPods) {
    issues.push(issue(`${path}.min_pods`, String(pool.minPods), `at most max_pods (${pool.maxPods})`));
  }
  if (pool.width > limits.maxInflightPerPod) {
    issues.push(
      issue(
        `${path}.width`,
        String(pool.width),
        `at most limits.max_inflight_per_pod (${limits.maxInflightPerPod})`,
      ),
    );
  }
  if (pool.pageTimeoutMs >= SLOT_AGE_LIMIT_MS) {
    issues.push(
      issue(`${path}.page_timeout`, `${pool.pageTimeoutMs} ms`, 'less than the slot age limit of 15m'),
    );
  }
  return issues;
}

/** A model's name must lead to one pool: pools are asked for by their own name as well. */
function checkNames({ pools }: Config): ConfigIssue[] {
  const owner = new Map<string, string>();
  const issues: ConfigIssue[] = [];
  pools.forEach((pool, index) => {
    const path = `pools[${index}].name`;
    if (owner.has(pool.name))
      issues.push(
        issue(path, JSON.stringify(pool.name), `a name that ${owner.get(pool.name)} does not have`),
      );
    else owner.set(pool.name, path);
  });
  pools.forEach((pool, index) => {
    pool.models.forEach((model, at) => {
      const path = `pools[${index}].models[${at}]`;
      const other = owner.get(model);
      if (other !== undefined)
        issues.push(issue(path, JSON.stringify(model), `a name that ${other} does not have`));
      else owner.set(model, path);
    });
  });
  return issues;
}

function checkSums({ pools }: Config): ConfigIssue[] {
  const total = pools.reduce((sum, pool) => sum + pool.maxPods, 0);
  if (total <= MAX_PODS_IN_ALL) return [];
  return [issue('pools', `max_pods of ${total} in all`, `at most ${MAX_PODS_IN_ALL} over all pools`)];
}

function checkStateDir({ stateDir }: Config): ConfigIssue[] {
  const bytes = Buffer.byteLength(stateDir + LONGEST_SOCKET);
  if (bytes <= MAX_SOCKET_PATH_BYTES) return [];
  const most = MAX_SOCKET_PATH_BYTES - LONGEST_SOCKET.length;
  return [
    issue(
      'state_dir',
      JSON.stringify(stateDir),
      `a path of at most ${most} bytes: sockets in it would be too long for the system`,
    ),
  ];
}

function issue(path: string, got: string, expected: string): ConfigIssue {
  return { path, got, expected };
}
