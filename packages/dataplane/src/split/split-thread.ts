import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { hasHeldMuch } from '@pagefleet/engines';
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
  // Of a thread alone: its memory comes back only with its end, and the next document gets a new one.
  if (await hasHeldMuch()) process.exit();
}

/**
 * A PDF page is alone in memory of its own and is handed over. A picture is copied: it may be the document itself, or lie
 * in memory of sharp's, which cannot change hands.
 */
function transferable(answer: SplitAnswer): ArrayBuffer[] {
  if (answer.kind !== 'page' || answer.page !== 'pdf') return [];
  const { buffer, byteLength } = answer.bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
