import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { podTls } from '@pagefleet/runtime';
import { onTestFinished } from 'vitest';

/** An address, and somebody behind it. */
export interface Door {
  readonly port: number;
  /** every byte that came in, one character each */
  heard(): string;
  /** requests that got through to whoever is behind it */
  requests(): number;
  /** Breaks every connection off and frees the port. */
  close(): Promise<void>;
}

/** What may be found at the address of a pod that is gone. All of them say yes to whatever they understand. */
export const STRANGERS = ['http', 'tls-1.2', 'tls-1.3', 'key of another pod', 'hangs up', 'mute'] as const;

/** Opens a stranger's door, which ends with the test. */
export function openStranger(kind: (typeof STRANGERS)[number], port = 0): Promise<Door> {
  let requests = 0;
  const sayYes: Parameters<typeof createHttpServer>[1] = (request, response) => {
    requests += 1;
    request.resume();
    response.end(JSON.stringify({ state: 'over', engine: 'ready' }));
  };
  const overTls = (tls: TlsOptions): Server => createHttpsServer(tls, sayYes);
  const behind = {
    http: () => createHttpServer(sayYes),
    'tls-1.2': () => overTls({ ...SELF_SIGNED, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }),
    'tls-1.3': () => overTls({ ...SELF_SIGNED, minVersion: 'TLSv1.3' }),
    'key of another pod': () => overTls(podTls({ token: 'another'.repeat(8), podKey: 'another' })),
    'hangs up': () => createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    mute: () => createServer((socket) => socket.resume()),
  } satisfies Record<typeof kind, () => Server>;
  return openDoor(behind[kind](), { port, requests: () => requests });
}

/** The door of a real pod: TLS with its key, in front of a server that speaks plain HTTP. */
export function openPskDoor(token: string, behindUrl: string, port = 0): Promise<Door> {
  let requests = 0;
  const server = createTlsServer(podTls({ token, podKey: 'key' }), (socket) => {
    requests += 1;
    join(socket, connect(Number(new URL(behindUrl).port), '127.0.0.1'));
  });
  return openDoor(server, { port, requests: () => requests });
}

/** The recorder stands in front of the server, so that it also hears what TLS keeps to itself. */
async function openDoor(
  behind: Server,
  { port, requests }: { port: number; requests: () => number },
): Promise<Door> {
  behind.on('tlsClientError', (_error, socket: Socket) => socket.destroy());
  const heard: Buffer[] = [];
  const sockets = new Set<Socket>();
  const inner = await listen(behind, 0);
  const front = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', (chunk: Buffer) => heard.push(chunk));
    join(socket, connect(inner, '127.0.0.1'));
  });
  const door: Door = {
    port: await listen(front, port),
    heard: () => Buffer.concat(heard).toString('latin1'),
    requests,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([front, behind].map(closed));
    },
  };
  onTestFinished(door.close);
  return door;
}

function join(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  for (const side of [one, other]) {
    side.on('error', () => undefined);
    side.on('close', () => {
      one.destroy();
      other.destroy();
    });
  }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Of nobody, for nothing: it stands for any certificate that is not ours. */
const SELF_SIGNED = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUbN3I0HDPGFnQ6Oc
EntJrjztob/HdbhVMN+KXDUMW9ShRANCAATVERyWWm3nqZa7JJuyRKBSyylBakG9
jRrR/xLw3lf3sBOlr9xIVxa+X79ouzBWAlr5US9+lN0FhoJoD1pAynTM
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUFcRWmcmGrq5hs45nKTOMd/vZW5IwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTIwMTAyNDI1MFoYDzIxMjYxMTA3
MDI0MjUwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATVERyWWm3nqZa7JJuyRKBSyylBakG9jRrR/xLw3lf3sBOlr9xIVxa+
X79ouzBWAlr5US9+lN0FhoJoD1pAynTMo1MwUTAdBgNVHQ4EFgQUq8ipaQ1hkdq9
Vz+Zr9gwFCuYiqwwHwYDVR0jBBgwFoAUq8ipaQ1hkdq9Vz+Zr9gwFCuYiqwwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA7Z2VjtaiBvZAxUwLvToy
ughE0PTaMXvQy38l1+c7aaoCIHg6KRi4foWVFB5VKHg62w0eV6TlEfNlIrB+NAT6
xY8Y
-----END CERTIFICATE-----
`,
};
