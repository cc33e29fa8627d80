import { type Answer, SENT } from '../http/answer.ts';
import { observePod } from '../table/observe-pod.ts';
import type { PodRecord } from '../table/pod-record.ts';
import { Problem } from './problem.ts';
import type { V2Request } from './serve-v2.ts';

interface LogLine {
  readonly source: 'system' | 'container';
  readonly line: string;
  readonly atMs: number;
}

/** What a pod's life leaves in its log. It can still be read when the pod is gone. */
function logLines(pod: PodRecord, nowMs: number): LogLine[] {
  const upAtMs = pod.startedAtMs + pod.knobs.bootMs;
  const lines: LogLine[] = [
    { source: 'system', line: `create container ${pod.request.image}`, atMs: pod.createdAtMs },
    { source: 'system', line: `pulling image ${pod.request.image}`, atMs: pod.createdAtMs + 1_000 },
  ];
  if (pod.knobs.neverBoots) {
    lines.push({
      source: 'system',
      line: 'error creating container: image not found',
      atMs: pod.createdAtMs + 2_000,
    });
  } else {
    lines.push({ source: 'system', line: 'start container', atMs: upAtMs });
    lines.push({ source: 'container', line: 'started', atMs: upAtMs });
  }
  if (observePod(pod, nowMs).containerUp === false && pod.containerExitedAtMs !== null) {
    lines.push({ source: 'container', line: 'exited', atMs: pod.containerExitedAtMs });
  }
  return lines.filter(({ atMs }) => atMs <= nowMs);
}

/** The stream never ends; whoever reads it does. No headers are sent before the first line. */
export async function streamLogs({ service, params, query, call }: V2Request): Promise<Answer> {
  const pod = service.account.pods.get(params.id ?? '');
  if (!pod) throw new Problem(404, 'pod not found');
  const source = query.get('source');
  const tail = Number(query.get('tail') ?? 100);
  if (!Number.isInteger(tail) || tail < 0 || tail > 5_000)
    throw new Problem(422, 'tail must be between 0 and 5000');
  const after = String(call.request.headers['last-event-id'] ?? query.get('since') ?? '');
  const lines = logLines(pod, service.clock.nowMs())
    .filter((line) => source === null || line.source === source)
    .map((line, index) => ({
      ...line,
      id: `${new Date(line.atMs).toISOString()}/${String(index).padStart(12, '0')}`,
    }))
    .filter(({ id }) => after === '' || id > after);
  const shown = after === '' ? lines.slice(Math.max(0, lines.length - tail)) : lines;
  const { response } = call;
  if (shown.length > 0) {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  }
  for (const { id, atMs, ...line } of shown) {
    const data = JSON.stringify({ source: line.source, line: line.line, ts: new Date(atMs).toISOString() });
    response.write(`id: ${id}\ndata: ${data}\n\n`);
  }
  return SENT;
}
