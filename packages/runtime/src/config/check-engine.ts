import { isAbsolute } from 'node:path';
import {
  type Config,
  ENGINE_PROFILES,
  isProfileName,
  isStock,
  type Pool,
  placementOf,
  promptsAreHere,
} from '@pagefleet/contract';
import type { Contradiction } from './check-config.ts';
import { checkServer } from './check-told.ts';

/** What an engine on a model server needs of its pool. */
export function checkEngines({ pools }: Config): Contradiction[] {
  return pools.flatMap((pool, index) => {
    const path = `pools[${index}]`;
    if (!isProfileName(pool.engine)) return checkUnplaced(pool, path);
    return [
      ...checkPlacement(pool, path),
      ...checkPrompts(pool, path),
      ...checkLengths(pool, path),
      ...checkServer(pool, `${path}.vllm`),
    ];
  });
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

/** A reply that the server has no room for is refused with every page. */
function checkLengths({ engine, reading, vllm }: Pool, path: string): Contradiction[] {
  if (!isProfileName(engine) || reading.maxTokens === 0) return [];
  const most = vllm.maxModelLen || ENGINE_PROFILES[engine].launch.maxModelLen;
  if (reading.maxTokens < most) return [];
  const expected = `less than the ${most} tokens of prompt and reply that the server takes (vllm.max_model_len)`;
  return [
    {
      path: `${path}.reading.max_tokens`,
      got: String(reading.maxTokens),
      expected,
      involves: [`${path}.vllm.max_model_len`],
    },
  ];
}

function checkUnplaced({ engine, placement }: Pool, path: string): Contradiction[] {
  if (placement === 'auto') return [];
  const expected = `auto: pages of ${engine} are read where the engine is, in the pod`;
  return [{ path: `${path}.placement`, got: placement, expected, involves: [`${path}.engine`] }];
}

/** The image of the model server alone, by any registry. */
const STOCK = /(?:^|\/)vllm\/vllm-openai(?:$|[:@])/;

function checkPlacement(pool: Pool, path: string): Contradiction[] {
  const { provider, machine } = pool;
  if (provider === 'local' && placementOf(pool) === 'worker') {
    const expected = 'pod or auto: pods on this machine are gateways';
    return [{ path: `${path}.placement`, got: 'worker', expected, involves: [`${path}.provider`] }];
  }
  if (!isStock(pool)) return checkOwnImage(pool, path);
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

function checkOwnImage({ machine }: Pool, path: string): Contradiction[] {
  if (!STOCK.test(machine.image)) return [];
  const expected = 'an image with our gateway in it (docs/pod-image.md), or placement: worker for this one';
  const got = JSON.stringify(machine.image);
  return [{ path: `${path}.machine.image`, got, expected, involves: [`${path}.placement`] }];
}
