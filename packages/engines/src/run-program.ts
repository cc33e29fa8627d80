import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly stdin?: Uint8Array;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The promise settles only once the process is gone, killed or not. */
export type RunOutcome =
  | {
      readonly outcome: 'exited';
      readonly exitCode: number | null;
      readonly stdout: Buffer;
      readonly stderr: string;
    }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'killed'; readonly because: 'timeout' | 'output_limit' | 'abort' };

const STDERR_KEPT_BYTES = 4096;

export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<RunOutcome> {
  if (options.signal?.aborted) return Promise.resolve({ outcome: 'killed', because: 'abort' });
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      stdio: 'pipe',
      windowsHide: true,
    });
    const stdout: Buffer[] = [];
    let stdoutBytes = 0;
    let stderr = '';
    let killedBecause: 'timeout' | 'output_limit' | 'abort' | null = null;

    const kill = (because: 'timeout' | 'output_limit' | 'abort'): void => {
      killedBecause ??= because;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(kill, options.timeoutMs, 'timeout');
    const onAbort = (): void => kill('abort');
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const settle = (): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
    };

    child.on('error', (cause: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      settle();
      if (cause.code === 'ENOENT') resolve({ outcome: 'absent' });
      else reject(cause);
    });
    child.on('close', (exitCode) => {
      settle();
      if (killedBecause) resolve({ outcome: 'killed', because: killedBecause });
      else resolve({ outcome: 'exited', exitCode, stdout: Buffer.concat(stdout), stderr });
    });
    child.stdout.on('data', (chunk: Buffer) => {
      stdoutBytes += chunk.length;
      if (stdoutBytes > options.maxOutputBytes) kill('output_limit');
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(-STDERR_KEPT_BYTES);
    });
    // A program that ends before it has read everything closes the pipe; its exit tells why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin);
  });
}
