import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRunpodProvider, type Provider } from '@pagefleet/providers';
import { createLogger } from '@pagefleet/runtime';
import { type ProviderAccount, rentRequest } from '../../conformance/provider.ts';
import { type LosingProxy, openLosingProxy } from './losing-proxy.ts';
import { order } from './runpod-account.ts';

export interface RunpodTarget {
  readonly apiKey: string;
  readonly restUrl: string;
  readonly graphqlUrl: string;
  /** a gateway */
  readonly image: string;
  readonly bootTimeoutMs: number;
  close(): Promise<void>;
}

const logger = createLogger({ component: 'test', level: 'silent' });

/** One account, real or played, that holds no other pods. The cheapest secure card is rented. */
export async function openConformanceAccount(target: RunpodTarget): Promise<ProviderAccount> {
  const { apiKey, restUrl, graphqlUrl, image, bootTimeoutMs } = target;
  const stateDir = mkdtempSync(join(tmpdir(), 'pf-runpod-'));
  const options = { apiKey, restUrl, graphqlUrl, graphqlHourlyBudget: 1_500, stateDir };
  const proxy: LosingProxy = await openLosingProxy(graphqlUrl);
  const opened: Provider[] = [];
  const open = (changes: { apiKey?: string; graphqlUrl?: string } = {}): Provider => {
    const provider = createRunpodProvider({ ...options, ...changes, logger });
    opened.push(provider);
    return provider;
  };

  const before = await open().list();
  // Whoever names an account with pods in it by mistake must not lose them.
  if (before.length > 0) throw new Error(`the account holds ${before.length} pods; it must be empty`);

  return {
    bootTimeoutMs,
    machineFrom(book) {
      const offers = book?.offers.filter(({ cloud, spot }) => cloud === 'secure' && !spot) ?? [];
      const offer = offers.toSorted((a, b) => a.priceUsdPerHour - b.priceUsdPerHour)[0];
      if (offer === undefined) throw new Error('the catalogue offers no secure card');
      return order({ offer, image }).machine;
    },
    open: () => open(),
    openRefusing: () => open({ apiKey: 'rpa_nobody_has_this_key' }),
    openLosingAnswers: () => open({ graphqlUrl: proxy.url }),
    async rentAndDie(request) {
      const program = fileURLToPath(new URL('./rent-and-wait.ts', import.meta.url));
      const renter = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
      renter.stdin.end(JSON.stringify({ ...options, request }));
      await once(renter.stdout, 'data');
      renter.kill('SIGKILL');
      await once(renter, 'exit');
    },
    async close() {
      const sweeper = open();
      for (let n = 0; n < 50; n += 1) {
        const left = (await sweeper.list()).filter(
          ({ mark }) => mark?.clusterId === rentRequest().mark.clusterId,
        );
        if (left.length === 0) break;
        for (const { id } of left) await sweeper.terminate(id);
        await sleep(20);
      }
      await Promise.all(opened.map((provider) => provider.close()));
      await proxy.close();
      await target.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
