import { execFile } from 'node:child_process';

export type NginxOutcome = { readonly kind: 'ok' } | { readonly kind: 'failed'; readonly detail: string };

/** Runs the nginx program once (`-t`, `-s reload`); what it prints on failure is for the log only. */
export function runNginx(binary: string, args: readonly string[]): Promise<NginxOutcome> {
  return new Promise((resolve) => {
    execFile(binary, [...args], { timeout: 15_000, maxBuffer: 64 * 1_024 }, (error, _stdout, stderr) => {
      if (error === null) resolve({ kind: 'ok' });
      else resolve({ kind: 'failed', detail: (stderr || error.message).trim().slice(0, 2_000) });
    });
  });
}
