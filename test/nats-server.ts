import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '@pagefleet/runtime';

export interface TestNats {
  readonly url: string;
  readonly credentialsFile: string;
  /** ends the server and removes its folder */
  stop(): Promise<void>;
  /** returns when it has ended, or, for SIGSTOP, stands still */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** starts it again on the same port, by default with the state it had */
  restart(options?: { emptyState?: boolean }): Promise<void>;
  /** speaks to the server behind everyone's back, as an operator would; waits for an answer only when asked to */
  send(subject: string, payload?: string, waitForAnswer?: 'answer'): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A real nats-server with JetStream on a free port, in a folder of its own. With `start: false` only the port and the
 * credentials exist until `restart()`.
 */
export async function startNats(options: { start?: boolean } = {}): Promise<TestNats> {
  const folder = mkdtempSync(join(tmpdir(), 'pagefleet-nats-'));
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  const credentialsFile = join(folder, 'nats-credentials.json');
  const storeDir = join(folder, 'store');
  writeFileSync(credentialsFile, JSON.stringify({ user: 'test', pass: 'test-pass' }), { mode: 0o600 });
  writeFileSync(
    join(folder, 'nats.conf'),
    [
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: "${storeDir}" }`,
      'authorization { user: test, password: test-pass }',
    ].join('\n'),
    { mode: 0o600 },
  );
  let child: ChildProcess | null = null;

  const end = async (signal: NodeJS.Signals) => {
    const running = child;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    running.kill(signal);
    if (signal === 'SIGSTOP') return untilStopped(running.pid);
    if (signal === 'SIGCONT') return;
    await new Promise((resolve) => running.once('exit', resolve));
  };
  const restart = async ({ emptyState = false } = {}) => {
    await end('SIGKILL');
    if (emptyState) rmSync(storeDir, { recursive: true, force: true });
    child = await launch(folder, port);
  };
  const stop = async () => {
    await end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };

  if (options.start !== false) await restart();
  return {
    url: `nats://127.0.0.1:${port}`,
    credentialsFile,
    stop,
    kill: end,
    restart,
    send: (subject, payload = '', wait) => sendByHand(port, { subject, payload, wait: wait === 'answer' }),
    [Symbol.asyncDispose]: stop,
  };
}

async function launch(folder: string, port: number): Promise<ChildProcess> {
  const logFile = join(folder, 'nats.log');
  const log = openSync(logFile, 'a');
  const child = spawn('nats-server', ['-c', join(folder, 'nats.conf')], { stdio: ['ignore', log, log] });
  let failure: Error | null = null;
  child.once('error', (error) => {
    failure = error;
  });
  for (const startedMs = Date.now(); Date.now() - startedMs < 10_000; await sleep(20)) {
    if (failure) throw new Error('nats-server cannot be started: is it installed?', { cause: failure });
    if (child.exitCode !== null) break;
    if (await answers(port)) return child;
  }
  child.kill('SIGKILL');
  throw new Error(`nats-server did not start:\n${readFileSync(logFile, 'utf8')}`);
}

/** A signal is delivered some time after it was sent: until then the server still answers. */
async function untilStopped(pid: number | undefined): Promise<void> {
  for (;;) {
    const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
    if (stdout.startsWith('T')) return;
    await sleep(10);
  }
}

/** The few lines of the NATS protocol that one message needs; PONG says that the server has taken it. */
function sendByHand(
  port: number,
  message: { subject: string; payload: string; wait: boolean },
): Promise<void> {
  const { subject, payload, wait } = message;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const reply = wait ? ' answer.here' : '';
    socket.write('CONNECT {"user":"test","pass":"test-pass","verbose":false}\r\nSUB answer.here 1\r\n');
    socket.write(`PUB ${subject}${reply} ${Buffer.byteLength(payload)}\r\n${payload}\r\nPING\r\n`);
    let text = '';
    socket.on('data', (part) => {
      text += part;
      if (text.includes('-ERR')) reject(new Error(text));
      else if (text.includes(wait ? 'MSG answer.here' : 'PONG')) resolve();
      else return;
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

/** The greeting comes when the server is ready, JetStream included. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', (data) => {
      resolve(data.toString().startsWith('INFO '));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}
