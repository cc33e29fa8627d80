import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSameProcess } from '@pagefleet/runtime';
import { readRecords } from './worker-record.ts';

/**
 * Removes the spool files of every incarnation that is not alive; they are named `<bootId>-<n>`, and an incarnation
 * writes its record before its first file.
 */
export async function cleanSpool(spoolDir: string, workersDir: string): Promise<number> {
  const names = await readdir(spoolDir).catch(() => []);
  const alive = new Set<string>();
  for (const record of await readRecords(workersDir)) {
    if (await isSameProcess(record.process)) alive.add(record.bootId);
  }
  const dead = names.filter((name) => {
    const bootId = /^([0-9a-f]+)-\d+$/.exec(name)?.[1];
    return bootId !== undefined && !alive.has(bootId);
  });
  await Promise.all(dead.map((name) => rm(join(spoolDir, name), { force: true })));
  return dead.length;
}
