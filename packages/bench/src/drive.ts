import { Agent, type Dispatcher } from 'undici';

export interface DriveOptions {
  readonly url: string;
  readonly body: Buffer;
  readonly contentType: string;
  readonly requests: number;
  readonly concurrency: number;
}

export interface DriveResult {
  readonly ok: number;
  readonly failed: number;
  readonly wallMs: number;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
}

/** Sends `requests` posts over `concurrency` keep-alive connections, one after another on each. A failure is never retried. */
export async function drive(options: DriveOptions): Promise<DriveResult> {
  const agent = new Agent({ connections: options.concurrency, pipelining: 1 });
  const latencies: number[] = [];
  let sent = 0;
  let ok = 0;
  let failed = 0;
  const started = performance.now();
  const lane = async () => {
    while (sent < options.requests) {
      sent += 1;
      const begun = performance.now();
      if (await post(agent, options)) ok += 1;
      else failed += 1;
      latencies.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, lane));
  const wallMs = performance.now() - started;
  await agent.close();
  latencies.sort((a, b) => a - b);
  return {
    ok,
    failed,
    wallMs,
    latencyP50Ms: quantile(latencies, 0.5),
    latencyP99Ms: quantile(latencies, 0.99),
  };
}

async function post(agent: Dispatcher, { url, body, contentType }: DriveOptions): Promise<boolean> {
  try {
    const { origin, pathname } = new URL(url);
    const answer = await agent.request({
      origin,
      path: pathname,
      method: 'POST',
      body,
      headers: { 'content-type': contentType },
    });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
