import { MessageChannel } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { SplitAnswer, SplitTask } from './split-messages.ts';
import type { SplitterLine } from './split-runner.ts';
import type { SplitThreadTask } from './split-thread.ts';

/** Starts the task in a thread of the pool. Killing it ends the thread, which holds this document only. */
export function openThreadLine(pool: Piscina<SplitThreadTask, void>, task: SplitTask): SplitterLine {
  const { port1, port2 } = new MessageChannel();
  const kill = new AbortController();
  const ended = pool
    .run({ ...task, port: port2 }, { transferList: [port2], signal: kill.signal })
    .finally(() => port1.close());
  return {
    ask: (ask) => port1.postMessage(ask),
    onAnswer: (take) => port1.on('message', (answer: SplitAnswer) => take(answer)),
    ended,
    kill: () => kill.abort(),
  };
}
