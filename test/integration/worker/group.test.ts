import { describe, expect, test } from 'vitest';
import { startFakePod } from '../dataplane/fake-pod.ts';
import { PNG } from '../dataplane/pictures.ts';
import { podOf, startGroup } from './rig.ts';

describe('the worker group (R-002, R-005)', () => {
  test('two_workers_listen_on_their_own_ports_follow_their_slices_and_report', async () => {
    const pod = await startFakePod({ kind: 'read' });
    const group = await startGroup({ workers: 2, pods: [podOf(pod.url)] });
    await group.serving(2);
    for (const worker of [0, 1]) {
      const answer = await fetch(`${group.url(worker)}/v1/ocr`, { method: 'POST', body: PNG });
      expect(answer.status).toBe(200);
      const health = (await (await fetch(`${group.url(worker)}/healthz`)).json()) as { worker: number };
      expect(health.worker).toBe(worker);
    }
    const roster = group.roster();
    expect(roster?.workers.map(({ worker, state }) => [worker, state])).toEqual([
      [0, 'listening'],
      [1, 'listening'],
    ]);
    for (const bootId of group.bootIds()) {
      await expect.poll(() => group.reports.get(bootId)?.totals.pagesOk).toBe(1);
      expect(group.reports.get(bootId)).toMatchObject({ epoch: 1, ack: 1, held: { p0: 64 } });
    }
    await pod.close();
  });
});
