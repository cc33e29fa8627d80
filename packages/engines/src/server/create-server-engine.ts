import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE_PROFILES, PagefleetError } from '@pagefleet/contract';
import { freePorts } from '@pagefleet/runtime';
import { createEngineLife, type EngineCore } from '../engine-life.ts';
import type { Engine, ServerEngineHooks, ServerEngineSettings } from '../port.ts';
import { openDrawRoom } from '../render/draw-room.ts';
import { readPrompt } from '../vlm/read-prompt.ts';
import { createVlmReader, type ReadingSettings, type VlmReader } from '../vlm/vlm-reader.ts';
import { launchServer, type ServerProcess } from './launch-server.ts';
import { createServerRecord } from './leftover.ts';
import { connectServer, type ServerConnection } from './server-connection.ts';
import { type ServerLife, watchServer } from './server-life.ts';
import type { ServerState } from './server-state.ts';
import { startFailure, trialFailure } from './start-failure.ts';
import { tryPage } from './try-page.ts';

const HOST = '127.0.0.1';
const PROBE_EVERY_MS = 5_000;
const START_LOOK_EVERY_MS = 250;
const TRIAL_AGAIN_MS = 2_000;
/** The first reply may have to wait for graphs to be compiled. */
const TRIAL_MS = 180_000;
/** What fails so often in a row is told, and the server started anew. */
const TRIALS = 3;

interface RunningServer {
  readonly process: ServerProcess;
  readonly connection: ServerConnection;
  readonly life: ServerLife;
}

/**
 * Reads pages with a model server that it starts, watches and ends. One engine is one life of one server: when it
 * is dead its owner closes it, which waits until no process is left, and makes another.
 */
export function createServerEngine(settings: ServerEngineSettings, hooks: ServerEngineHooks): Engine {
  const profile = ENGINE_PROFILES[settings.kind];
  const record = createServerRecord(settings.recordFile);
  const limits = { profile: profile.picture, dpi: settings.dpi, maxPixels: settings.maxPixels };
  const room = openDrawRoom(settings.width);
  const drawing = room.drawing(limits);
  let version = 'unknown';
  let running: RunningServer | null = null;
  let reader: VlmReader | null = null;
  let trialFault = '';

  async function open(closing: AbortSignal): Promise<void> {
    const prompt = await readPrompt(settings.kind, settings.promptFolder);
    if (await record.endLeftover()) hooks.onEvent({ event: 'server_left_behind' });
    closing.throwIfAborted();
    const server = await launch();
    running = server;
    const deadline = setTimeout(server.life.startTimeOver, settings.startMs).unref();
    const dead = new AbortController();
    void server.life.dead.then(() => dead.abort());
    try {
      reader = await prepare(server, prompt, AbortSignal.any([closing, dead.signal]));
      server.life.pageRead();
    } catch (cause) {
      closing.throwIfAborted();
      if (server.life.state().at !== 'dead') throw cause;
      throw await failureOf(server, cause);
    } finally {
      clearTimeout(deadline);
    }
  }

  async function launch(): Promise<RunningServer> {
    const [port = 0] = await freePorts(1);
    const command = [...settings.command, '--host', HOST, '--port', String(port)];
    const process = await launchServer({ command, env: settings.env, onOutput: hooks.onOutput });
    await record.write(process.pid);
    hooks.onEvent({ event: 'server_started', child: process.pid, serverPort: port });
    const connection = connectServer(`http://${HOST}:${port}`, settings.width);
    const life = watchServer({
      exited: process.exited,
      probe: connection.probe,
      everyMs: PROBE_EVERY_MS,
      onChange: (state) => hooks.onEvent({ event: 'server_state', state: state.at, ...whyOf(state) }),
    });
    return { process, connection, life };
  }

  /** Waits until the server answers, knows the model and has read a page. Throws when the signal is raised. */
  async function prepare(
    { connection }: RunningServer,
    prompt: string,
    signal: AbortSignal,
  ): Promise<VlmReader> {
    while ((await connection.probe(TRIAL_AGAIN_MS)) !== 'up') {
      await sleep(START_LOOK_EVERY_MS, undefined, { signal });
    }
    const facts = await connection.facts(signal);
    requireModel(facts.models, profile.servedName);
    version = facts.version === '' ? 'unknown' : `vllm ${facts.version}`;
    const reading: ReadingSettings = {
      ...settings.reading,
      ...{ profile: settings.kind, prompt, maxModelLen: facts.maxModelLen },
    };
    for (let failed = 1; ; failed += 1) {
      try {
        const trial = AbortSignal.any([signal, AbortSignal.timeout(TRIAL_MS)]);
        await tryPage(reading, { drawing, server: connection, signal: trial });
        return createVlmReader(reading, drawing);
      } catch (err) {
        signal.throwIfAborted();
        trialFault = `; its trial page failed: ${err instanceof Error ? err.message : String(err)}`;
        hooks.onEvent({ event: 'trial_page_failed', err });
        if (failed >= TRIALS) throw trialFailure(err);
        await sleep(TRIAL_AGAIN_MS, undefined, { signal });
      }
    }
  }

  async function failureOf({ process, life }: RunningServer, cause: unknown): Promise<PagefleetError> {
    const state = life.state();
    // What it printed last arrives after the news of its end.
    await sleep(START_LOOK_EVERY_MS);
    const exit = await Promise.race([process.exited, Promise.resolve(null)]);
    return startFailure({
      program: settings.command[0] ?? '',
      why: `${state.at === 'dead' ? state.why : String(cause)}${trialFault}`,
      exitCode: exit?.code ?? null,
      tail: process.tail(),
    });
  }

  async function close(): Promise<void> {
    if (running !== null) {
      running.life.stop();
      await running.connection.close();
      await running.process.stop();
      await record.remove();
      running = null;
    }
    await room.close();
  }

  const core: EngineCore = {
    name: profile.name,
    version: () => version,
    open,
    read({ bytes, kind, signal, events }) {
      const { reader: reads, server } = requireOpen(reader, running);
      return reads.read({ kind, signal, load: async () => bytes }, server.connection, events);
    },
    forward: (request) => requireOpen(reader, running).server.connection.forward(request),
    condition: () => running?.life.state().at ?? 'starting',
    close,
  };
  return createEngineLife(core, settings.width);
}

function whyOf(state: ServerState): { why?: string } {
  return state.at === 'dead' ? { why: state.why } : {};
}

function requireModel(served: readonly string[], name: string): void {
  if (served.includes(name)) return;
  throw new PagefleetError(
    'config_invalid',
    `the model server answers to ${served.join(', ') || 'no name'} and not to ${name}: expected it among --served-model-name`,
  );
}

function requireOpen(reader: VlmReader | null, server: RunningServer | null) {
  if (reader === null || server === null) {
    throw new PagefleetError('engine_not_ready', 'the model server is not running');
  }
  return { reader, server };
}
