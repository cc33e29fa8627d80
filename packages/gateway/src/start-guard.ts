import { spawn } from 'node:child_process';
import type { Logger } from '@pagefleet/runtime';

/**
 * Waits until the gateway is gone, however it went, then kills what is left of its process group: no engine outlives its
 * gateway, also after `kill -9`. The guard is a member of the group, so the group's number cannot mean another one; if the
 * gateway leads no group there is none of that number, and nothing is killed.
 */
const GUARD = `trap '' HUP INT TERM; read -r _; kill -s KILL -- "-$1"`;

export function startGuard(logger: Logger): void {
  const guard = spawn('/bin/sh', ['-c', GUARD, 'pagefleet-pod-guard', String(process.pid)], {
    // The pipe is the signal: it closes when the gateway is gone, and nothing is ever written to it.
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  });
  guard.on('error', (err) => logger.warn({ err }, 'guard_not_started'));
  guard.on('exit', (code) => logger.warn({ code }, 'guard_ended'));
  guard.stdin.on('error', () => undefined);
  guard.unref();
}
