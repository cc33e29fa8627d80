import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePorts } from './free-ports.ts';

describe('freePorts', () => {
  it('gives_different_ports_that_can_be_listened_on', async () => {
    const ports = await freePorts(20);
    expect(new Set(ports).size).toBe(20);
    for (const port of ports) {
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, '127.0.0.1', resolve);
      });
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('none_asked_for_is_none', async () => {
    expect(await freePorts(0)).toEqual([]);
  });
});
