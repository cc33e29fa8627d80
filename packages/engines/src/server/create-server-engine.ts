import { ENGINE_PROFILES, PagefleetError } from '@pagefleet/contract';
import { freePorts } from '@pagefleet/runtime';
import { createEngineLife, type EngineCore } from '../engine-life.ts';
import type { Engine, ServerEngineHooks, ServerEngineSettings } from '../port.ts';
import { openDrawRoom } from '../render/draw-room.ts';
import { readPrompt } from '../vlm/read-prompt.ts';
import { createVlmReader, type ReadingSettings, type VlmReader } from '../vlm/vlm-reader.ts';
import { launchServer } from './launch-server.ts';
import { createServerRecord } from './leftover.ts';
import { connectServer, type ServerConnection } from './server-connection.ts';
import { createServerRun } from './server-run.ts';
import { tryPage } from './try-page.ts';

const HOST = '127.0.0.1';

/**
 * Reads pages with a model server that it starts, watches and ends. One engine is one life of one server: when it
 * is dead its owner closes it, which waits until no process is left, and makes another.
 */
export function createServerEngine(settings: ServerEngineSettings, hooks: ServerEngineHooks): Engine {
  const profile = ENGINE_PROFILES[settings.kind];
  const limits = { profile: profile.picture, dpi: settings.dpi, maxPixels: settings.maxPixels };
  const room = openDrawRoom(settings.width);
  const drawing = room.drawing(limits);
  let version = 'unknown';
  let prompt = '';
  let reading: ReadingSettings | null = null;
  let reader: VlmReader | null = null;

  const run = createServerRun<ServerConnection>({
    program: settings.command[0] ?? '',
    startMs: settings.startMs,
    record: createServerRecord(settings.recordFile),
    onEvent: hooks.onEvent,
    async launch() {
      const [port = 0] = await freePorts(1);
      const command = [...settings.command, '--host', HOST, '--port', String(port)];
      const process = await launchServer({ command, env: settings.env, onOutput: hooks.onOutput });
      hooks.onEvent({ event: 'server_started', child: process.pid, serverPort: port });
      return { process, connection: connectServer(`http://${HOST}:${port}`, settings.width) };
    },
    async meet(connection, signal) {
      const facts = await connection.facts(signal);
      requireModel(facts.models, profile.servedName);
      version = facts.version === '' ? 'unknown' : `vllm ${facts.version}`;
      const told = { profile: settings.kind, prompt, maxModelLen: facts.maxModelLen };
      reading = { ...settings.reading, ...told };
      reader = createVlmReader(reading, drawing);
    },
    async tryPage(server, signal) {
      if (reading !== null) await tryPage(reading, { drawing, server, signal });
    },
  });

  const core: EngineCore = {
    name: profile.name,
    version: () => version,
    async open(closing) {
      prompt = await readPrompt(settings.kind, settings.promptFolder);
      await run.open(closing);
    },
    read({ bytes, kind, signal, events }) {
      const { reader: reads, server } = requireOpen(reader, run.connection());
      return reads.read({ kind, signal, load: async () => bytes }, server, events);
    },
    forward: (request) => requireOpen(reader, run.connection()).server.forward(request),
    condition: run.condition,
    async close() {
      await run.close();
      await room.close();
    },
  };
  return createEngineLife(core, settings.width);
}

function requireModel(served: readonly string[], name: string): void {
  if (served.includes(name)) return;
  throw new PagefleetError(
    'config_invalid',
    `the model server answers to ${served.join(', ') || 'no name'} and not to ${name}: expected it among --served-model-name`,
  );
}

function requireOpen(reader: VlmReader | null, server: ServerConnection | null) {
  if (reader === null || server === null) {
    throw new PagefleetError('engine_not_ready', 'the model server is not running');
  }
  return { reader, server };
}
