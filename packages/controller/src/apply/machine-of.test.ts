import type { Pool } from '@pagefleet/contract';
import type { Offer } from '@pagefleet/core';
import { companionCommand } from '@pagefleet/providers';
import { loadConfig } from '@pagefleet/runtime';
import { describe, expect, test } from 'vitest';
import { machineOf } from './machine-of.ts';

const POOL = loadConfig({ env: {}, cwd: '/' }).config.pools[0] as Pool;
const OFFER: Offer = {
  ...{ card: 'NVIDIA A40', cloud: 'secure', spot: false, memoryGb: 48, priceUsdPerHour: 0.44, stock: 'high' },
};
const rented = (changes: Partial<Pool>) => machineOf(OFFER, { ...POOL, provider: 'runpod', ...changes }, 0);

describe('the machine of a rented pool', () => {
  test('on_a_stock_image_is_started_with_the_companion_behind_the_proxy (decision 0012)', () => {
    const { entrypoint, cmd } = companionCommand();
    expect(rented({ engine: 'surya' })).toMatchObject({ entrypoint, startCommand: cmd, transport: 'proxy' });
    expect(rented({ engine: 'surya' }).image).toMatch(/^vllm\/vllm-openai:/);
  });

  test('on_our_own_image_is_started_as_its_operator_says', () => {
    const machine = { ...POOL.machine, image: 'acme/ocr:1', startCommand: ['run'] };
    const own = { entrypoint: [], startCommand: ['run'], image: 'acme/ocr:1', transport: 'tls-psk' };
    expect(rented({ engine: 'surya', placement: 'pod', machine })).toMatchObject(own);
    expect(rented({ engine: 'tesseract', machine })).toMatchObject(own);
  });
});
