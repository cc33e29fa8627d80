import { isTestFile, observeSourceFiles } from './source-files.ts';

interface Policy {
  readonly requirement: string;
  readonly pattern: RegExp;
  /** where the policy holds, by the beginning of the path */
  readonly within: readonly string[];
  /** files that are the one place for it, each for the reason given */
  readonly except: Readonly<Record<string, string>>;
  readonly reason: string;
}

const SERVERS = ['dataplane', 'worker', 'gateway', 'engines', 'controller', 'providers'].map(
  (name) => `packages/${name}/src/`,
);

/** What only one place may do. A second place is how the field rented two pods under a cap of one. */
const POLICIES: readonly Policy[] = [
  {
    requirement: 'R-039',
    pattern: /\.maxPods\b/,
    within: ['core', 'controller', 'dataplane', 'worker', 'providers', 'cli'].map(
      (name) => `packages/${name}/src/`,
    ),
    except: {
      'packages/core/src/pool/caps.ts': 'caps()',
      'packages/core/src/pool/schedule.ts': 'a part of caps()',
      'packages/core/src/pool/lease.ts': 'a part of caps()',
      'packages/controller/src/world.ts': 'hands the setting to caps()',
      'packages/controller/src/status/build-status.ts': 'shows it',
      'packages/dataplane/src/sizes.ts': 'says how many pods can be fed',
      'packages/dataplane/src/pool-directory.ts': 'only whether renting is off',
    },
    reason: 'a cap is read through caps() alone',
  },
  {
    requirement: 'R-034',
    pattern: /\benterRegistry\(|\bnew PodRegistry\(/,
    within: ['packages/controller/src/'],
    except: {
      'packages/controller/src/pod-registry.ts': 'the one way in',
      'packages/controller/src/fleet.ts': 'owns the registry',
    },
    reason: 'pods enter through PodRegistry.enter alone',
  },
  {
    requirement: 'R-012',
    pattern: /\bnew (Agent|Pool|Client)\(|\bsetGlobalDispatcher\b|(?<![.\w])fetch\(/,
    within: SERVERS,
    except: {
      'packages/dataplane/src/forward/pod-client.ts': 'pages and control apart, each bounded',
      'packages/dataplane/src/read/fetch-document.ts': 'documents by URL',
      'packages/controller/src/observe/pod-prober.ts': 'probes',
      'packages/providers/src/runpod/open-http.ts': 'the provider’s API, bounded',
      'packages/engines/src/server/server-connection.ts':
        'the pod’s own model server: replies and probes apart',
      'packages/gateway/src/remove-self.ts': 'one call at a time, when the pod takes no more pages',
    },
    reason: 'connections are opened in one place, bounded, pages and control apart',
  },
  {
    requirement: 'R-019',
    pattern: /\b\w+Sync\(/,
    within: SERVERS,
    except: {
      'packages/dataplane/src/sizes.ts': 'at the start',
      'packages/dataplane/src/read/spool-file.ts': 'unlinks one file',
      'packages/controller/src/main.ts': 'at the start',
      'packages/engines/src/tesseract/cli-recogniser.ts': 'at the start',
      'packages/providers/src/local/create-local-provider.ts': 'at the start',
    },
    reason: 'no blocking call in a program that serves',
  },
];

export function checkPolicies(root: string): string[] {
  return observeSourceFiles(root).flatMap(({ path, text }) => {
    const holds = POLICIES.filter(
      ({ within, except }) =>
        !isTestFile(path) && !(path in except) && within.some((start) => path.startsWith(start)),
    );
    return text
      .split('\n')
      .flatMap((line, index) =>
        holds
          .filter(({ pattern }) => pattern.test(line.replace(/^\s*(\*|\/\/|\/\*).*/, '')))
          .map(({ requirement, reason }) => `${path}:${index + 1}: ${requirement}: ${reason}`),
      );
  });
}
