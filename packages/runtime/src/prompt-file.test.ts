import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPromptFile } from './prompt-file.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pagefleet-prompts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the_first_file_that_is_there_is_the_prompt (R-070)', async () => {
  await writeFile(at('second'), '\ufeff  read this page – all of it\n\n');
  expect(await readPromptFile([at('first'), at('second')])).toBe('read this page – all of it');
  await writeFile(at('first'), 'read');
  expect(await readPromptFile([at('first'), at('second')])).toBe('read');
});

test('without_one_the_places_are_named', async () => {
  await expect(readPromptFile([at('none'), at('second/none')])).rejects.toMatchObject({
    code: 'config_invalid',
    message: `expected the text of the prompt in ${at('none')} or ${at('second/none')}`,
  });
});

test.each([
  ['it is empty', () => writeFile(at('odd'), ' \n')],
  ['it has 65537 bytes, of 65536 at most', () => writeFile(at('odd'), 'x'.repeat(65_537))],
  ['it is no text in UTF-8', () => writeFile(at('odd'), Buffer.from([0x50, 0xff, 0xfe]))],
  ['it is no text in UTF-8', () => writeFile(at('odd'), 'PK\u0000')],
  ['it is no file', () => mkdir(at('odd'))],
  ['it is no file', async () => void execFileSync('mkfifo', [at('odd')])],
])('a_file_that_cannot_be_a_prompt_is_refused_with_the_reason: %s', async (why, make) => {
  await rm(at('odd'), { recursive: true, force: true });
  await make();
  await expect(readPromptFile([at('odd'), at('second')])).rejects.toMatchObject({
    code: 'config_invalid',
    message: `the prompt in ${at('odd')} cannot be used: ${why}`,
  });
});
