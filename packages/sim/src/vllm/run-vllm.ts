import { setTimeout as wait } from 'node:timers/promises';
import { parseArguments, withoutSecrets } from './parse-arguments.ts';
import { openRecords } from './records.ts';
import type { Script } from './script.ts';
import { openScript } from './script-file.ts';
import { createVllmServer } from './serve.ts';
import { createService } from './service.ts';

/** uvicorn's. */
const BACKLOG = 2_048;
/** What was written leaves the process within this. */
const LAST_BYTES_MS = 20;

/** Stands for the program `vllm`: `serve MODEL [flags]`, scripted by `SIM_VLLM_SCRIPT`, recorded in `SIM_VLLM_DIR`. */
export async function runVllm(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const served = parseArguments(argv, env);
  const recordFolder = env.SIM_VLLM_DIR || null;
  const readScript = openScript(env.SIM_VLLM_SCRIPT || null);
  const { script } = readScript();
  openRecords(recordFolder).start({
    pid: process.pid,
    port: served.port,
    argv: withoutSecrets(argv),
    startedAtMs: Date.now(),
  });
  say(`vLLM API server (simulated, no model is loaded): ${served.servedNames.join(', ')}`);
  if (script.startMs !== undefined) await wait(script.startMs);
  if (script.startFails !== undefined) return giveUp(script.startFails);

  const service = createService({
    ...{ arguments: served, recordFolder, readScript },
    die: () => void setTimeout(() => end(1), LAST_BYTES_MS),
  });
  const server = createVllmServer(service);
  const end = (code: number): void => {
    for (const endReply of [...service.underWay]) endReply();
    process.exit(code);
  };
  process.once('SIGTERM', () => end(0));
  process.once('SIGINT', () => end(0));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: served.port, host: served.host, backlog: BACKLOG }, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : served.port;
  say(`Starting vLLM API server 0 on http://${served.host}:${port}`);
  say('Application startup complete.');
}

function giveUp(how: NonNullable<Script['startFails']>): never {
  if (how === 'oom') {
    say('EngineCore failed to start.', 'ERROR');
    process.stderr.write(
      'Traceback (most recent call last):\n' +
        '  File "simulated/vllm/v1/engine/core.py", line 1, in run_engine_core\n' +
        'torch.OutOfMemoryError: CUDA out of memory (simulated: there is no card). Tried to allocate 594.00 MiB. ' +
        'GPU 0 has a total capacity of 44.40 GiB of which 12.44 MiB is free.\n',
    );
  } else say('simulated: the script says that the start fails', 'ERROR');
  process.exit(1);
}

function say(line: string, level = 'INFO'): void {
  process.stderr.write(`${level} ${new Date().toISOString()} [simulated-vllm] ${line}\n`);
}
