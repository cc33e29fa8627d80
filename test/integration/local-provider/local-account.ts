import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLocalProvider } from '@pagefleet/providers';
import { createLogger, observeProcess } from '@pagefleet/runtime';
import type { ProviderAccount } from '../../conformance/provider.ts';

export const silentLogger = createLogger({ component: 'test', level: 'silent' });

export interface LocalAccount extends ProviderAccount {
  readonly accountDir: string;
}

export async function openLocalAccount(): Promise<LocalAccount> {
  const folder = mkdtempSync(join(tmpdir(), 'local-account-'));
  const accountDir = join(folder, 'account');
  const common = { accountDir, logger: silentLogger, nodeBinary: process.execPath };
  const open = () => createLocalProvider(common);
  open();

  return {
    accountDir,
    machineFrom: () => null,
    open,
    openRefusing: () => createLocalProvider({ ...common, nodeBinary: join(folder, 'no-such-node') }),
    openLosingAnswers: () =>
      createLocalProvider({
        ...common,
        observeProcess: () => Promise.reject(new Error('the answer is lost')),
      }),
    async rentAndDie(request) {
      const renter = spawn(
        process.execPath,
        [fileURLToPath(new URL('./rent-and-wait.ts', import.meta.url))],
        {
          stdio: ['pipe', 'pipe', 'inherit'],
        },
      );
      renter.stdin.end(JSON.stringify({ accountDir, request }));
      await once(renter.stdout, 'data');
      renter.kill('SIGKILL');
      await once(renter, 'exit');
    },
    async close() {
      const provider = createLocalProvider({ ...common, killAfterMs: 1_000 });
      const pods = await provider.list().catch(() => []);
      for (const pod of pods) await provider.terminate(pod.id);
      for (let n = 0; n < 200 && pods.length > 0 && (await provider.list()).length > 0; n += 1)
        await sleep(20);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function isAlive(pid: number): Promise<boolean> {
  return (await observeProcess(pid)) !== null;
}
