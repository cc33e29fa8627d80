import type { Slice } from '@pagefleet/contract';
import OpenAI from 'openai';
import {
  type CompanionProcess,
  SIMULATED_VLLM,
  startCompanion,
  TOKEN,
} from '../companion/companion-process.ts';
import { type Rig, startRig } from '../dataplane/rig.ts';

export const MODEL = 'ocr';
export const LORA = 'fine-ocr';
/** of prompt and reply: olmOCR’s own where pages are read, few where a test is about the limit */
const CONTEXT = { stock: 16_384, chat: 2_000 };

export interface ChatRig {
  readonly rig: Rig;
  readonly companion: CompanionProcess;
  /** the official client, only `baseURL` changed: to us, and straight to the model server */
  readonly ours: OpenAI;
  readonly direct: OpenAI;
  /** The bytes of an answer through us and straight from the model server. */
  post(path: string, body: object, headers?: Record<string, string>): Promise<Response>;
  postDirect(path: string, body: object): Promise<Response>;
}

export interface ChatRigOptions {
  readonly script?: object;
  readonly width?: number;
  readonly env?: Record<string, string>;
  readonly limits?: Partial<Slice['limits']>;
  readonly pool?: object;
  /** pages are read on the worker, as against a stock image; nothing is rented, the test hands out the slice */
  readonly isStock?: boolean;
}

/** One data plane, the companion of a stock image and our simulation of vLLM behind it. Ends with the test. */
export async function startChat(options: ChatRigOptions = {}): Promise<ChatRig> {
  const { width = 4 } = options;
  const companion = startCompanion({
    script: { repeatable: true, cuts: 0.5, seed: 7, ...options.script },
    settings: {
      ...{ width, clusterId: 'c1' },
      serverCommand: [
        ...[...SIMULATED_VLLM, 'some/model', '--served-model-name', MODEL, 'olmocr'],
        ...['--enable-lora', '--lora-modules', `${LORA}=/adapters/fine`],
        ...[
          '--max-num-seqs',
          String(width),
          '--max-model-len',
          String(CONTEXT[options.isStock ? 'stock' : 'chat']),
        ],
      ],
    },
  });
  const pools = [
    {
      ...{ name: MODEL, engine: 'olmocr', width, vllm: { loras: [{ name: LORA, path: '/adapters/fine' }] } },
      ...(options.isStock ? { provider: 'runpod', machine: { max_usd_per_hour: 1 } } : {}),
      ...options.pool,
    },
    ...(options.isStock ? [] : [{ name: 'paper', engine: 'sleep' }]),
  ];
  const provider = options.isStock
    ? { PAGEFLEET_MONEY_USD_PER_HOUR: '1', PAGEFLEET_MONEY_USD_PER_DAY: '1' }
    : {};
  const rig = await startRig({
    ...{ pods: [], width },
    env: { PAGEFLEET_POOLS: JSON.stringify(pools), ...provider, ...options.env },
    ...(options.limits ? { limits: options.limits } : {}),
  });
  const url = `http://127.0.0.1:${await companion.port()}`;
  await companion.until('ready');
  rig.grant([{ id: 'pod', url, token: TOKEN, width }]);
  const serverUrl = `http://127.0.0.1:${companion.starts().at(-1)?.port}`;
  const clientAt = (at: string) => new OpenAI({ baseURL: `${at}/v1`, apiKey: 'none', maxRetries: 0 });
  const send = (at: string, path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${at}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return {
    ...{ rig, companion },
    ours: clientAt(rig.url),
    direct: clientAt(serverUrl),
    post: (path, body, headers) => send(rig.url, path, body, headers),
    postDirect: (path, body) => send(serverUrl, path, body),
  };
}
