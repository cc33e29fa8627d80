import { describe, expect, it } from 'vitest';
import { wrong } from './config-kit.ts';

const MONEY = { usd_per_hour: 2, usd_per_day: 20 };
const MACHINE = { image: 'example/ocr:1', max_usd_per_hour: 0.5 };
const POOL = { name: 'ocr', provider: 'runpod', min_pods: 0, machine: MACHINE };

describe('R-051: a provider that costs money', () => {
  it('is_accepted_with_both_limits_an_image_and_a_ceiling', () => {
    expect(wrong({ money: MONEY, pools: [POOL] })).toEqual({});
  });

  it('is_refused_without_either_limit_and_told_which', () => {
    const found = wrong({ pools: [POOL] });
    expect(Object.keys(found)).toEqual(['money.usd_per_hour', 'money.usd_per_day']);
    expect(found['money.usd_per_day']).toContain('pools[0].provider costs money');
    expect(Object.keys(wrong({ money: { usd_per_hour: 2 }, pools: [POOL] }))).toEqual(['money.usd_per_day']);
  });

  it('needs_an_image_and_a_ceiling_for_the_pool_or_for_each_card', () => {
    const pool = (machine: object) => ({ money: MONEY, pools: [{ ...POOL, machine }] });
    expect(Object.keys(wrong(pool({})))).toEqual([
      'pools[0].machine.image',
      'pools[0].machine.max_usd_per_hour',
    ]);
    const card = { id: 'NVIDIA A40', max_usd_per_hour: 0.4 };
    const { image } = MACHINE;
    expect(wrong(pool({ image, cards: [card] }))).toEqual({});
    expect(Object.keys(wrong(pool({ image, cards: [card, { id: 'NVIDIA L4' }] })))).toEqual([
      'pools[0].machine.max_usd_per_hour',
    ]);
  });

  it('is_the_one_provider_of_all_pools', () => {
    const found = wrong({ money: MONEY, pools: [POOL, { name: 'b' }] });
    expect(Object.keys(found)).toEqual(['pools[1].provider']);
  });

  it('local_pods_need_none_of_it', () => {
    expect(wrong({ pools: [{ name: 'ocr' }] })).toEqual({});
  });
});

describe('limits, zone and schedule', () => {
  it('a_hard_limit_below_the_soft_one_is_refused', () => {
    expect(Object.keys(wrong({ money: { ...MONEY, hard_usd_per_day: 19 } }))).toEqual([
      'money.hard_usd_per_day',
    ]);
    expect(wrong({ money: { ...MONEY, hard_usd_per_day: 20 } })).toEqual({});
  });

  it('a_zone_that_nobody_knows_is_refused', () => {
    expect(Object.keys(wrong({ money: { time_zone: 'Europe/Atlantis' } }))).toEqual(['money.time_zone']);
    expect(wrong({ money: { time_zone: 'America/Sao_Paulo' } })).toEqual({});
  });

  it('a_floor_by_time_of_day_above_a_cap_is_refused', () => {
    const pools = (window: object) => ({
      pools: [{ name: 'ocr', max_pods: 4, schedule: [{ from: '08:00', to: '18:00', ...window }] }],
    });
    expect(Object.keys(wrong(pools({ min_pods: 5 })))).toEqual(['pools[0].schedule[0].min_pods']);
    expect(Object.keys(wrong(pools({ min_pods: 3, max_pods: 2 })))).toEqual([
      'pools[0].schedule[0].min_pods',
    ]);
    expect(wrong(pools({ min_pods: 4 }))).toEqual({});
    expect(Object.keys(wrong(pools({ from: '25:00' })))).toEqual(['pools[0].schedule[0].from']);
  });
});
