import { isAbsolute } from 'node:path';
import {
  type Config,
  isProfileName,
  isStock,
  type Pool,
  placementOf,
  promptsAreHere,
} from '@pagefleet/contract';
import type { Contradiction } from './check-config.ts';

/** What an engine on a model server needs of its pool. */
export function checkEngines({ pools }: Config): Contradiction[] {
  return pools.flatMap((pool, index) => {
    if (!isProfileName(pool.engine)) return [];
    const path = `pools[${index}]`;
    return [
      ...checkPlacement(pool, path),
      ...checkPrompts(pool, path),
      ...checkArguments(pool, `${path}.vllm.args`),
    ];
  });
}

const OURS = /^(?:PAGEFLEET_|RUNPOD_)/;
const SECRET_NAME = /TOKEN|SECRET|PASSWORD|CREDENTIAL|KEY/i;
const KEPT_BY_RUNPOD = /^\{\{ ?RUNPOD_SECRET_[A-Za-z0-9_-]+ ?\}\}$/;

/** A listing shows a pod’s environment to everybody who may see the account. */
export function checkEnvironments({ pools }: Config): Contradiction[] {
  return pools.flatMap(({ machine }, index) =>
    machine.env.flatMap((entry, at) => {
      const [name = '', value = ''] = entry.split(/=(.*)/s);
      const expected = OURS.test(name)
        ? 'another name: these are set by us and by RunPod'
        : SECRET_NAME.test(name) && !KEPT_BY_RUNPOD.test(value)
          ? 'a secret of the RunPod account, {{ RUNPOD_SECRET_name }}, and not its value'
          : null;
      if (expected === null) return [];
      return [{ path: `pools[${index}].machine.env[${at}]`, got: name, expected, involves: [] }];
    }),
  );
}

/** Folders of this machine were made absolute before. */
function checkPrompts(pool: Pool, path: string): Contradiction[] {
  const { prompts } = pool.reading;
  if (prompts === '' || promptsAreHere(pool) || isAbsolute(prompts)) return [];
  const expected = 'an absolute path: it names a folder in the pod, where pages are drawn and prompted';
  return [
    {
      path: `${path}.reading.prompts`,
      got: JSON.stringify(prompts),
      expected,
      involves: [`${path}.placement`],
    },
  ];
}

/** vLLM’s arguments that carry a secret. */
const SECRET_ARGUMENT = /^--(?:api[-_]key|hf[-_]token)(?=$|=)/;

/** Arguments are seen by whoever looks at a pod’s processes or asks for its health, so no secret is among them. */
function checkArguments({ vllm }: Pool, path: string): Contradiction[] {
  return vllm.args.flatMap((argument, index) => {
    const name = SECRET_ARGUMENT.exec(argument)?.[0];
    if (name === undefined) return [];
    const expected = 'no secret: arguments are shown to everybody who may reach the pod';
    return [{ path: `${path}[${index}]`, got: name, expected, involves: [] }];
  });
}

function checkPlacement(pool: Pool, path: string): Contradiction[] {
  const { provider, machine } = pool;
  if (provider === 'local' && placementOf(pool) === 'worker') {
    const expected = 'pod or auto: pods on this machine are gateways';
    return [{ path: `${path}.placement`, got: 'worker', expected, involves: [`${path}.provider`] }];
  }
  if (!isStock(pool)) return [];
  const involves = [`${path}.engine`, `${path}.placement`];
  const found: Contradiction[] = [];
  if (machine.transport === 'tls-psk') {
    const expected = 'proxy, plain-tcp or auto: a stock image does not speak tls-psk';
    found.push({ path: `${path}.machine.transport`, got: 'tls-psk', expected, involves });
  }
  if (machine.startCommand.length > 0) {
    found.push({
      path: `${path}.machine.start_command`,
      got: JSON.stringify(machine.startCommand),
      expected:
        'nothing: a stock image is started with our own; vllm.command and vllm.args say what it serves',
      involves,
    });
  }
  return found;
}
