import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { serveDocument } from './serve-document.ts';
import type { SplitAnswer, SplitAsk, SplitTask } from './split-messages.ts';

export interface SplitThreadTask extends SplitTask {
  readonly port: MessagePort;
}

/** Thread: one task is one document, for as long as its pages are pulled. */
export default async function split({ port, ...task }: SplitThreadTask): Promise<void> {
  try {
    await serveDocument(task, {
      answer: (answer) => port.postMessage(answer, transferable(answer)),
      async next() {
        const [ask] = (await once(port, 'message')) as [SplitAsk];
        return ask;
      },
    });
  } finally {
    port.close();
  }
}

/** A page that is alone in its buffer is handed over; one that shares it (a picture that is its own page) is copied. */
function transferable(answer: SplitAnswer): ArrayBuffer[] {
  if (answer.kind !== 'page') return [];
  const { buffer, byteLength } = answer.bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
