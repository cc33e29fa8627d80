import { ENGINE_PROFILES, type EngineProfile } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LaunchPool, launchCommand, servedNames } from './launch-command.ts';

const POOL: LaunchPool = {
  name: 'ocr',
  models: [],
  width: 32,
  vllm: {
    ...{ command: ['vllm', 'serve'], model: '', maxModelLen: 0, gpuMemoryUtilization: 0 },
    ...{ maxBatchedTokens: 0, args: [], loras: [], startTimeoutMs: 1_200_000 },
  },
};
const { surya, chandra, olmocr } = ENGINE_PROFILES;
const ALL = Object.values(ENGINE_PROFILES);

function argumentOf(profile: EngineProfile, name: string, pool = POOL, memoryGb: number | null = 24) {
  const { command } = launchCommand(profile, pool, memoryGb);
  const at = command.indexOf(name);
  return at < 0 ? null : command[at + 1];
}
const withVllm = (changes: Partial<LaunchPool['vllm']>): LaunchPool => ({
  ...POOL,
  vllm: { ...POOL.vllm, ...changes },
});

describe('how a model server is started (R-042, R-043; contract 3.1 to 3.3)', () => {
  it.each(ALL)('$name_serves_its_own_model_under_its_own_name', (profile) => {
    const { command } = launchCommand(profile, POOL, null);
    expect(command.slice(0, 3)).toEqual(['vllm', 'serve', profile.model]);
    expect(argumentOf(profile, '--served-model-name')).toBe(profile.servedName);
  });

  it('as_many_run_at_once_as_the_pod_is_wide', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL), fc.integer({ min: 1, max: 1_024 }), (profile, width) => {
        expect(argumentOf(profile, '--max-num-seqs', { ...POOL, width })).toBe(String(width));
      }),
    );
  });

  it.each([
    [24, '8192'],
    [48, '16384'],
    [80, '16384'],
    [141, '32768'],
    [null, '8192'],
  ])('surya_on_%s_GB_steps_through_%s_tokens', (memoryGb, tokens) => {
    expect(argumentOf(surya, '--max-num-batched-tokens', POOL, memoryGb)).toBe(tokens);
  });

  it('the_tokens_of_one_step_are_the_engines_own_figure_where_it_has_one', () => {
    expect(argumentOf(chandra, '--max-num-batched-tokens')).toBe('65536');
    expect(argumentOf(olmocr, '--max-num-batched-tokens')).toBe(null);
    expect(argumentOf(olmocr, '--max-num-batched-tokens', withVllm({ maxBatchedTokens: 99 }))).toBe('99');
  });

  it('what_the_operator_sets_stands_instead_of_the_engines_figure', () => {
    const pool = withVllm({
      ...{ command: ['python3', '-m', 'server'], model: 'm', maxModelLen: 5, gpuMemoryUtilization: 0.5 },
      args: ['--seed', '1'],
    });
    const { command } = launchCommand(surya, pool, null);
    expect(command.slice(0, 4)).toEqual(['python3', '-m', 'server', 'm']);
    expect(argumentOf(surya, '--max-model-len', pool)).toBe('5');
    expect(argumentOf(surya, '--gpu-memory-utilization', pool)).toBe('0.5');
    expect(command.slice(-2)).toEqual(['--seed', '1']);
  });

  it('it_answers_to_every_name_that_leads_to_the_pool_and_to_none_twice', () => {
    const pool = { ...POOL, models: ['chandra', 'a', 'style'] };
    const adapters = { ...pool, vllm: { ...POOL.vllm, loras: [{ name: 'style', path: 'org/style' }] } };
    expect(servedNames(chandra, adapters)).toEqual(['chandra', 'a', 'ocr']);
    const { command } = launchCommand(chandra, adapters, null);
    expect(command.join(' ')).toContain('--enable-lora --lora-modules style=org/style');
  });

  it('olmocr_is_told_to_use_one_thread', () => {
    expect(launchCommand(olmocr, POOL, null).env).toEqual(['OMP_NUM_THREADS=1']);
  });
});
