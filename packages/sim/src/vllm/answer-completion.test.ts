import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { parseArguments } from './parse-arguments.ts';
import type { RequestRecord } from './records.ts';
import type { ScriptedReply } from './script.ts';
import { createVllmServer } from './serve.ts';
import { createService } from './service.ts';

const WHOLE: ScriptedReply = { text: 'a b c d e f' };
const REPLIES: readonly (readonly [string, ScriptedReply, number, number])[] = [
  ['a whole reply', WHOLE, 200, 200],
  ['a cut', { ...WHOLE, truncate: 2 }, 200, 200],
  ['an early end', { ...WHOLE, endsEarly: 2 }, 200, 200],
  ['an error on the way', { ...WHOLE, error: { status: 503, message: 'full', afterTokens: 2 } }, 200, 503],
];

test.each(
  REPLIES.flatMap(([what, reply, streamed, whole]) => [
    [what, 'streamed', reply, streamed] as const,
    [what, 'whole', reply, whole] as const,
  ]),
)('of %s, %s, the record is written before the last bytes leave', async (_, form, reply, status) => {
  const service = createService({
    arguments: parseArguments(['serve', 'test/model'], {}),
    recordFolder: null,
    readScript: () => ({ script: { rules: [{ reply }] }, pages: [] }),
    die() {},
  });
  const course: string[] = [];
  const over = (record: RequestRecord): void => void course.push(`record ${record.status}`);
  const server = createVllmServer({ ...service, over });
  server.prependListener('request', (_request, response: ServerResponse) => tellWrites(response, course));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const body = JSON.stringify({
      ...{ model: 'test/model', stream: form === 'streamed' },
      messages: [{ role: 'user', content: 'read' }],
    });
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const url = `http://127.0.0.1:${port}/v1/chat/completions`;
    await fetch(url, request)
      .then((response) => response.text())
      .catch(() => null);
    expect(course.filter((step) => step !== 'bytes')).toEqual([`record ${status}`]);
    expect(course.at(-1)).toBe('bytes');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

/** What an answer hands to its connection, in order. */
function tellWrites(response: ServerResponse, course: string[]): void {
  const write = response.write.bind(response) as (...given: unknown[]) => boolean;
  const end = response.end.bind(response) as (...given: unknown[]) => ServerResponse;
  Object.assign(response, {
    write(...given: unknown[]) {
      course.push('bytes');
      return write(...given);
    },
    end(...given: unknown[]) {
      course.push('bytes');
      return end(...given);
    },
  });
}
