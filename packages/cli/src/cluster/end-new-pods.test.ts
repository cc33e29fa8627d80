import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedPod } from '@pagefleet/providers';
import { expect, test } from 'vitest';
import { endNewPods } from './end-new-pods.ts';

// DESIGN 3, Stopping: no pod is left, also not one that was rented meanwhile.

test('a_pod_that_appears_while_stopping_is_ended_and_one_that_was_there_is_left_to_the_drain', async () => {
  const pods = [{ id: 'old', name: 'old' } as ListedPod];
  const ended: string[] = [];
  const said: string[] = [];
  const account = {
    list: async () => [...pods],
    terminate: async (id: string) => {
      ended.push(id);
      pods.splice(
        pods.findIndex((pod) => pod.id === id),
        1,
      );
    },
  };
  const work = (async () => {
    await sleep(20);
    pods.push({ id: 'new', name: 'new' } as ListedPod);
    for (let tries = 0; ended.length === 0 && tries < 200; tries += 1) await sleep(5);
    return 'down';
  })();
  expect(await endNewPods(account, work, (line) => said.push(line), 5)).toBe('down');
  expect(ended).toEqual(['new']);
  expect(said).toEqual(['ending pod new, which appeared while stopping']);
});

test('a_listing_that_fails_ends_nothing_and_does_not_disturb_the_work', async () => {
  const account = {
    list: () => Promise.reject(new Error('no listing')),
    terminate: () => Promise.reject(new Error('never')),
  };
  expect(await endNewPods(account, Promise.resolve(1), () => undefined, 5)).toBe(1);
});
