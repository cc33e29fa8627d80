import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROFILE_NAMES } from '@pagefleet/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPrompt } from './read-prompt.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pagefleet-prompts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(PROFILE_NAMES)('%s_comes_with_a_prompt_of_ours (R-070)', async (name) => {
  expect((await readPrompt(name, '')).length).toBeGreaterThan(200);
});

test('a_folder_names_the_prompt_of_one_engine_or_of_all', async () => {
  await writeFile(join(folder, 'page.txt'), 'for all\n');
  await mkdir(join(folder, 'surya'));
  await writeFile(join(folder, 'surya', 'page.txt'), '  for surya\n');
  expect(await readPrompt('surya', folder)).toBe('for surya');
  expect(await readPrompt('chandra', folder)).toBe('for all');
});

test('a_folder_without_it_is_told_with_the_places_that_were_looked_at', async () => {
  const empty = join(folder, 'empty');
  await mkdir(empty);
  await expect(readPrompt('olmocr', empty)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(join(empty, 'olmocr', 'page.txt')),
  });
});
