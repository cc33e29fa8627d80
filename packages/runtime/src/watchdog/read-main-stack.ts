import { type Debugger, Session } from 'node:inspector';

/**
 * The stack of the main thread, innermost first; null when it does not stop within `timeoutMs`, which is so while it is
 * inside native code. The debugger is switched on for this moment only: while it is on, V8 runs WebAssembly unoptimised.
 */
export function readMainStack(timeoutMs: number): Promise<string[] | null> {
  const session = new Session();
  session.connectToMainThread();
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(null), timeoutMs);
    function end(stack: string[] | null): void {
      clearTimeout(timer);
      // Disabling lets a paused thread go on.
      session.post('Debugger.disable', () => session.disconnect());
      resolve(stack);
    }
    session.once('Debugger.paused', ({ params }) => end(params.callFrames.map(frameText)));
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  });
}

function frameText(frame: Debugger.CallFrame): string {
  const { lineNumber, columnNumber = 0 } = frame.location;
  return `${frame.functionName || '(anonymous)'} (${frame.url}:${lineNumber + 1}:${columnNumber + 1})`;
}
