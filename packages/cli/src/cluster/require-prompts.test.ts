import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@pagefleet/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requirePrompts } from './require-prompts.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'pagefleet-prompts-'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const RENTED = { provider: 'runpod', machine: { max_usd_per_hour: 1, image: 'our/image' } };
const POOLS = [
  { ...RENTED, name: 'here', engine: 'surya', reading: { prompts: 'mine' } },
  { ...RENTED, name: 'ours', engine: 'chandra' },
  { ...RENTED, name: 'cpu', engine: 'tesseract' },
  {
    ...{ ...RENTED, name: 'there', engine: 'olmocr', placement: 'pod' },
    reading: { prompts: '/opt/of/the/pod' },
  },
];

async function require(): Promise<void> {
  await writeFile(
    join(cwd, 'pagefleet.yaml'),
    JSON.stringify({ money: { usd_per_hour: 1, usd_per_day: 9 }, pools: POOLS }),
  );
  await requirePrompts(loadConfig({ env: {}, cwd }));
}

test('a_prompt_that_is_missing_on_this_machine_is_named_with_its_setting_and_line (R-070)', async () => {
  await expect(require()).rejects.toMatchObject({
    code: 'config_invalid',
    details: {
      issues: [
        {
          path: 'pools[0].reading.prompts',
          got: JSON.stringify(join(cwd, 'mine')),
          expected: expect.stringContaining(join(cwd, 'mine/surya/page.txt')),
          from: 'pagefleet.yaml line 1',
        },
      ],
    },
  });
});

test('one_that_is_there_is_fine', async () => {
  await mkdir(join(cwd, 'mine'));
  await writeFile(join(cwd, 'mine', 'page.txt'), 'read this page');
  await expect(require()).resolves.toBeUndefined();
});
