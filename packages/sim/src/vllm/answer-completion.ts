import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Asked, CompletionPath } from './asked.ts';
import type { Emission } from './batch.ts';
import type { Piece } from './pieces.ts';
import { readRequest } from './read-request.ts';
import { type RequestEnd, toldHeaders } from './records.ts';
import { errorBody, Refusal } from './refusal.ts';
import { type ReplyOutput, sendJson, streamedOutput, wholeOutput } from './reply-output.ts';
import type { Script, ScriptedReply } from './script.ts';
import type { Service } from './service.ts';
import { createAnswerWriter } from './write-answer.ts';
import { writeReply } from './write-reply.ts';

/** When a repeatable server lives, in seconds since 1970. */
const FIXED_TIME_S = 1_700_000_000;
/** Share of the writes that are cut unless the script says another. */
const CUTS = 0.2;
const DEAD = 'EngineCore encountered an issue. See stack trace (above) for the root cause. (simulated)';

/** Answers a request for a completion, from its body to its record. */
export async function answerCompletion(
  service: Service,
  path: CompletionPath,
  exchange: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const { request, response } = exchange;
  const atMs = Date.now();
  const startedMs = performance.now();
  const key = randomUUID().replaceAll('-', '');
  const record = (end: RequestEnd, status: number | null, asked: Asked | null, tokens: number): void =>
    service.over({
      ...{ id: key, path, model: asked?.model ?? null, atMs },
      ...{ ms: Math.round(performance.now() - startedMs), end, status },
      promptTokens: asked?.promptTokens ?? 0,
      completionTokens: tokens,
      wastedTokens: end === 'aborted' || end === 'died' ? tokens : 0,
      headers: toldHeaders(request.headers),
      page: asked?.page?.page.name ?? null,
      body: asked?.body ?? null,
    });
  let asked: Asked | null = null;
  try {
    const { script, pages } = service.script();
    const { names, pictures } = service;
    const { maxModelLen } = service.arguments;
    asked = await readRequest(path, await readBody(request), { pictures, pages, names, maxModelLen });
    if (response.destroyed) return record('aborted', null, asked, 0);
    const scripted = service.rules.choose(asked, script);
    if (script.dead === true) throw new Refusal(500, DEAD);
    const { error } = scripted;
    if (error !== undefined && error.afterTokens === undefined) throw refusalOf(error);
    const given = request.headers['x-request-id'];
    const base = script.repeatable === true ? asked.hash.slice(0, 32) : key;
    const id = `${path === '/v1/completions' ? 'cmpl' : 'chatcmpl'}-${typeof given === 'string' ? given : base}`;
    generate(service, { key, id, asked, scripted, script, response, record, startedMs });
  } catch (failure) {
    if (response.destroyed) return record('aborted', null, asked, 0);
    const refusal =
      failure instanceof Refusal
        ? failure
        : new Refusal(500, failure instanceof Error ? failure.message : '');
    record('refused', refusal.status, asked, 0);
    sendJson(response, refusal.status, errorBody(refusal));
  }
}

interface Generation {
  /** of the sequence and the record */
  readonly key: string;
  /** as the client sees it */
  readonly id: string;
  readonly asked: Asked;
  readonly scripted: ScriptedReply;
  readonly script: Script;
  readonly response: ServerResponse;
  readonly record: (end: RequestEnd, status: number | null, asked: Asked, tokens: number) => void;
  readonly startedMs: number;
}

function generate(service: Service, generation: Generation): void {
  const { key, asked, scripted, response, record, startedMs } = generation;
  const { engine, metrics, underWay } = service;
  const reply = writeReply(asked, scripted, service.shape);
  const output = openOutput(generation);
  const breakAt = breakOf(scripted);
  let count = 0;
  let isOver = false;
  // Called before the last bytes leave: who has an answer finds its record.
  const over = (end: RequestEnd, status: number | null = output.sentStatus): void => {
    if (isOver) return;
    isOver = true;
    underWay.delete(die);
    engine.abort(key);
    record(end, status, asked, count);
    const seconds = (performance.now() - startedMs) / 1_000;
    metrics.observe('e2e_request_latency_seconds', seconds);
    metrics.observe('request_generation_tokens', count);
    metrics.observe('request_prompt_tokens', asked.promptTokens);
  };
  const die = (): void => {
    over('died');
    response.destroy();
  };
  underWay.add(die);
  response.once('close', () => over('aborted'));
  const take = ({ pieces, finished }: Emission<Piece>): void => {
    if (count === 0) observeStart(service, key, startedMs);
    const breaks = breakAt !== null && count + pieces.length >= breakAt;
    const taken = breaks ? pieces.slice(0, breakAt - count) : pieces;
    count += taken.length;
    if (breaks) {
      over('died', statusOfBreak(output, scripted));
      breakOff(service, { output, scripted, pieces: taken });
    } else if (finished === null) output.add(taken);
    else {
      const finishReason = scripted.finish ?? (finished === 'length' ? 'length' : reply.finish);
      const stopReason = finished === 'length' ? null : reply.stopReason;
      over(endOf(finishReason), 200);
      output.finish({ finishReason, stopReason, completionTokens: count, lastPieces: taken });
    }
  };
  const notBeforeMs = performance.now() + (scripted.slowFirstTokenMs ?? 0);
  const { promptTokens, maxTokens } = asked;
  engine.add({ id: key, promptTokens, maxTokens, notBeforeMs, pieceAt: reply.pieceAt }, take);
}

function openOutput({ id, asked, scripted, script, response }: Generation): ReplyOutput {
  const eventPerToken = script.repeatable === true;
  const created = eventPerToken ? FIXED_TIME_S : Math.floor(Date.now() / 1_000);
  const options = {
    writer: createAnswerWriter({ id, created, asked }),
    includeUsage: asked.includeUsage,
    eventPerToken,
    cuts: { share: script.cuts ?? CUTS, seed: `${script.seed ?? 1}.${asked.hash}` },
  };
  const streams = asked.stream && scripted.whole !== true;
  return streams ? streamedOutput(response, options) : wholeOutput(response, options);
}

/** After how many tokens the reply breaks off; null: it does not. */
function breakOf({ truncate, endsEarly, dies, error }: ScriptedReply): number | null {
  const places = [truncate, endsEarly, dies, error?.afterTokens].filter((place) => place !== undefined);
  return places.length === 0 ? null : Math.min(...places);
}

function statusOfBreak(
  { sentStatus }: ReplyOutput,
  { truncate, endsEarly, error }: ScriptedReply,
): number | null {
  if (sentStatus !== null || truncate !== undefined) return sentStatus ?? 200;
  if (error !== undefined) return refusalOf(error).status;
  return endsEarly === undefined ? null : 200;
}

function breakOff(
  service: Service,
  {
    output,
    scripted,
    pieces,
  }: { readonly output: ReplyOutput; readonly scripted: ScriptedReply; readonly pieces: readonly Piece[] },
): void {
  if (scripted.truncate !== undefined) {
    output.cut(pieces);
    return;
  }
  output.add(pieces);
  if (scripted.error !== undefined) output.fail(refusalOf(scripted.error));
  else if (scripted.endsEarly !== undefined) output.endEarly();
  else service.die();
}

function observeStart({ engine, metrics }: Service, key: string, startedMs: number): void {
  const now = performance.now();
  const queuedMs = (engine.batch.startedMs(key) ?? startedMs) - startedMs;
  metrics.observe('time_to_first_token_seconds', (now - startedMs) / 1_000);
  metrics.observe('request_queue_time_seconds', Math.max(0, queuedMs) / 1_000);
  metrics.observe('request_prefill_time_seconds', Math.max(0, now - startedMs - queuedMs) / 1_000);
}

function endOf(finishReason: string): RequestEnd {
  return finishReason === 'length' || finishReason === 'tool_calls' ? finishReason : 'stop';
}

function refusalOf({ status, message, type }: NonNullable<ScriptedReply['error']>): Refusal {
  return new Refusal(status, message ?? 'simulated failure', type === undefined ? {} : { type });
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}
