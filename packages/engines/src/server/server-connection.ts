import { PagefleetError } from '@pagefleet/contract';
import { Agent, Pool } from 'undici';
import type { ModelAnswer, ModelRequest } from '../port.ts';
import type { ModelServer } from '../vlm/model-server.ts';

interface ServerFacts {
  /** every name that the server answers to */
  readonly models: readonly string[];
  /** longest prompt and reply together, tokens; 0: it does not say */
  readonly maxModelLen: number;
  /** of the program; empty: it does not say */
  readonly version: string;
}

/** A model server on this machine. */
export interface ServerConnection extends ModelServer {
  forward(request: ModelRequest): Promise<ModelAnswer>;
  /** Asks for its health, on a connection of its own. `broken`: it answers that its engine is dead. Never throws. */
  probe(timeoutMs: number): Promise<'up' | 'broken' | 'missed'>;
  facts(signal: AbortSignal): Promise<ServerFacts>;
  close(): Promise<void>;
}

const COMPLETIONS = '/v1/chat/completions';
/** Passed on with an answer; all others are the server's business with us. */
const ANSWER_HEADERS = ['content-type', 'content-length', 'content-encoding', 'cache-control'] as const;
const BROKEN_STATUS = 503;

/**
 * As many connections as the pod is wide, so that what was admitted runs and nothing waits in here. Replies
 * may take as long as their page: nothing but the signal ends them. Probes never share a connection with replies.
 */
export function connectServer(origin: string, width: number): ServerConnection {
  const replies = new Pool(origin, {
    connections: width,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // A new connection each: whether it still accepts one is a part of the question.
  const control = new Agent({ pipelining: 0 });

  async function forward({ path, contentType, body, signal }: ModelRequest): Promise<ModelAnswer> {
    const answer = await replies.request({
      path,
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
      signal,
    });
    const headers = ANSWER_HEADERS.flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    return { status: answer.statusCode, headers: Object.fromEntries(headers), body: answer.body };
  }

  async function ask(path: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const answer = await control.request({ origin, path, method: 'GET', signal });
    return { status: answer.statusCode, text: await answer.body.text() };
  }

  async function askJson(path: string, signal: AbortSignal): Promise<unknown> {
    const { status, text } = await ask(path, signal);
    if (status !== 200) throw noModelServer(`it answers ${path} with ${status}`);
    try {
      return JSON.parse(text);
    } catch {
      throw noModelServer(`its answer to ${path} is no JSON`);
    }
  }

  return {
    connection: replies,
    forward,
    async post({ encode, signal }) {
      const body = await encode();
      const answer = await forward({ path: COMPLETIONS, contentType: 'application/json', body, signal });
      const { status, headers } = answer;
      return { status, contentType: headers['content-type'] ?? '', body: answer.body };
    },
    async probe(timeoutMs) {
      try {
        const { status } = await ask('/health', AbortSignal.timeout(timeoutMs));
        return status === BROKEN_STATUS ? 'broken' : 'up';
      } catch {
        return 'missed';
      }
    },
    async facts(signal) {
      const data = modelsOf(await askJson('/v1/models', signal));
      const said = (await askJson('/version', signal).catch(() => ({}))) as { version?: unknown };
      const lengths = data.flatMap(({ max_model_len: length }) =>
        typeof length === 'number' ? [length] : [],
      );
      return {
        models: data.map(({ id }) => id),
        maxModelLen: lengths[0] ?? 0,
        version: typeof said.version === 'string' ? said.version : '',
      };
    },
    async close() {
      await Promise.all([replies.destroy(), control.destroy()]);
    },
  };
}

interface ServedModel {
  readonly id: string;
  readonly max_model_len?: unknown;
}

function modelsOf(answer: unknown): readonly ServedModel[] {
  const data = (answer as { data?: unknown } | null)?.data;
  const isModel = (one: unknown): one is ServedModel => typeof (one as ServedModel | null)?.id === 'string';
  if (Array.isArray(data) && data.every(isModel)) return data;
  throw noModelServer('its answer to /v1/models is no list of models');
}

function noModelServer(why: string): PagefleetError {
  return new PagefleetError('config_invalid', `the program in vllm.command is no vLLM: ${why}`);
}
