import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@pagefleet/runtime';
import { expect, test } from 'vitest';
import { startCluster } from './start-cluster.ts';

test('a_port_in_use_is_refused_before_a_state_directory_is_made', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pf-start-'));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const stateDir = join(folder, 'state');
  try {
    const { config } = loadConfig({
      env: { PAGEFLEET_STATE_DIR: stateDir, PAGEFLEET_LISTEN_PORT: String(port) },
      cwd: folder,
    });
    await expect(startCluster(config, { say: () => undefined, rehearse: false })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`Port ${port}`),
    });
    expect(existsSync(stateDir)).toBe(false);
  } finally {
    other.close();
    rmSync(folder, { recursive: true });
  }
});
