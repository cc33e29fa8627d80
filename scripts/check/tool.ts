import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Runs a program of `node_modules/.bin`; what it printed is the problem, if it failed. */
export async function runTool(root: string, name: string, args: readonly string[]): Promise<string[]> {
  const program = join(import.meta.dirname, '../../node_modules/.bin', name);
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code === 0) return [];
  return [Buffer.concat(output).toString('utf8').trimEnd() || `${name} ended with code ${code}`];
}
