import { request } from 'node:http';

/**
 * The generation nginx serves now, from its private unix socket; null = no answer. Both the connection and the answer are
 * new each time: a worker of the old configuration keeps answering on connections it already holds.
 */
export function askGeneration(socketPath: string, timeoutMs: number): Promise<number | null> {
  return new Promise((resolve) => {
    const call = request(
      {
        socketPath,
        path: '/.pagefleet/generation',
        agent: false,
        timeout: timeoutMs,
        headers: { connection: 'close' },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text = (text + chunk).slice(0, 64);
        });
        response.on('end', () => resolve(parseGeneration(response.statusCode ?? 0, text)));
        response.on('error', () => resolve(null));
      },
    );
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(null));
    call.end();
  });
}

function parseGeneration(status: number, text: string): number | null {
  if (status !== 200 || !/^\s*\d+\s*$/.test(text)) return null;
  return Number(text);
}
