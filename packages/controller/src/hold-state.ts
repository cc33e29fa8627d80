import { rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PagefleetError } from '@pagefleet/contract';

/** Long enough for a second taker to have finished what it does between two looks at the socket. */
const SETTLE_MS = 150;
const ANSWER_TIMEOUT_MS = 2_000;
const WATCH_MS = 5_000;

export interface HeldState {
  /** Called once when the socket is no longer ours: somebody removed the folder, or took it over. */
  onLost(lost: () => void): void;
  /** lets go: the next controller may start */
  release(): Promise<void>;
}

/**
 * Holds the state directory by listening on a socket in it: the kernel lets go of it however we die. A holder that lives
 * makes a newcomer give up; a dead one's socket is moved aside, looked at again and removed. Two that do so at once are
 * told apart by asking the socket, a moment later, who holds it.
 */
export async function holdState(
  socketPath: string,
  controllerId: string,
  watchMs = WATCH_MS,
): Promise<HeldState> {
  const server = await listenOrTakeOver(socketPath, controllerId);
  await sleep(SETTLE_MS);
  const holder = await askHolder(socketPath);
  if (holder.kind === 'alive' && holder.controllerId === controllerId) {
    return hold(server, { socketPath, controllerId, watchMs });
  }
  server.unref();
  throw alreadyRunning();
}

function hold(
  server: Server,
  { socketPath, controllerId, watchMs }: { socketPath: string; controllerId: string; watchMs: number },
): HeldState {
  let timer: NodeJS.Timeout | null = null;
  const stopWatching = () => {
    if (timer !== null) clearInterval(timer);
  };
  return {
    onLost(lost) {
      timer = setInterval(async () => {
        const holder = await askHolder(socketPath);
        // One that accepts and says nothing may be ourselves, too busy to answer.
        const isOurs = holder.kind === 'alive' && ['', controllerId].includes(holder.controllerId);
        if (isOurs) return;
        stopWatching();
        lost();
      }, watchMs);
    },
    async release() {
      stopWatching();
      await close(server);
    },
  };
}

async function listenOrTakeOver(socketPath: string, controllerId: string): Promise<Server> {
  const first = await tryListen(socketPath, controllerId);
  if (first !== null) return first;
  if ((await askHolder(socketPath)).kind === 'alive') throw alreadyRunning();
  const aside = `${socketPath}.${controllerId.slice(0, 8)}`;
  await rename(socketPath, aside).catch(ignoreMissing);
  // What was moved is asked again: between the two looks somebody faster may have put a live one there.
  if ((await askHolder(aside)).kind === 'alive') {
    await rename(aside, socketPath);
    throw alreadyRunning();
  }
  await rm(aside, { force: true });
  const second = await tryListen(socketPath, controllerId);
  if (second === null) throw alreadyRunning();
  return second;
}

/** null = somebody's socket is there, dead or alive */
function tryListen(socketPath: string, controllerId: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((peer) => {
      peer.on('error', () => undefined);
      peer.end(`${controllerId}\n`);
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(socketFailure(socketPath, error));
    });
    server.listen(socketPath, () => resolve(server));
  });
}

type Holder = { readonly kind: 'alive'; readonly controllerId: string } | { readonly kind: 'dead' };

/** One that accepts and says nothing lives: hung is not dead, and two controllers are worse than none. */
function askHolder(socketPath: string): Promise<Holder> {
  return new Promise((resolve) => {
    let said = '';
    let accepted = false;
    const socket = connect(socketPath);
    const done = () => {
      socket.destroy();
      resolve(accepted ? { kind: 'alive', controllerId: said.trim() } : { kind: 'dead' });
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, done);
    socket.on('connect', () => {
      accepted = true;
    });
    socket.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(0, 100);
    });
    socket.on('end', done);
    socket.on('error', done);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function alreadyRunning(): PagefleetError {
  return new PagefleetError(
    'already_running',
    'another controller holds this state directory; stop it first, or use another state directory',
  );
}

function socketFailure(socketPath: string, cause: NodeJS.ErrnoException): PagefleetError {
  const isTooLong = cause.code === 'EINVAL' || cause.code === 'ENAMETOOLONG';
  const message = isTooLong
    ? `the path of the state directory is too long for a socket in it (${socketPath.length} bytes, about 100 fit); set state_dir to a shorter one`
    : `cannot listen on the controller’s socket: ${cause.message}`;
  return new PagefleetError('config_invalid', message, { cause });
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
