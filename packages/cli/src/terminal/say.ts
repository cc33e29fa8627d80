import { oneLine } from './one-line.ts';

/** Progress and notes go to stderr, with the time: stdout is for what was asked for. */
export function say(line: string): void {
  const time = new Date().toTimeString().slice(0, 8);
  console.error(`${time}  ${oneLine(line)}`);
}
