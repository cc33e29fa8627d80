import { serveDocument } from './serve-document.ts';
import type { SplitAnswer, SplitAsk, SplitTask } from './split-messages.ts';

/** Program: like the thread, in a process of its own whose memory can be bounded and whose death hurts nobody. */
const asks: SplitAsk[] = [];
let wake: (() => void) | null = null;

process.once('message', (task: SplitTask) => {
  process.on('message', (ask: SplitAsk) => {
    asks.push(ask);
    wake?.();
  });
  void serveDocument(task, { answer, next }).then(() => process.disconnect());
});
// The worker is gone: nobody waits for the pages.
process.once('disconnect', () => process.exit(0));

function answer(message: SplitAnswer): void {
  process.send?.(message);
}

async function next(): Promise<SplitAsk> {
  for (;;) {
    const ask = asks.shift();
    if (ask) return ask;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}
