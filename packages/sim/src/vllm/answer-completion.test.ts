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
  let answer: ServerResponse | undefined;
  const records: (Pick<RequestRecord, 'status'> & { readonly isEarly: boolean })[] = [];
  const over = (record: RequestRecord): void => {
    const isEarly = answer !== undefined && !answer.writableEnded && !answer.destroyed;
    records.push({ status: record.status, isEarly: isEarly && !(form === 'whole' && answer?.headersSent) });
  };
  const server = createVllmServer({ ...service, over });
  server.prependListener('request', (_request, response) => {
    answer = response;
  });
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
    expect(records).toEqual([{ status, isEarly: true }]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
