import { describe, expect, test } from 'vitest';
import { BrokenReply, ServerRefusal } from '../vlm/model-server.ts';
import { createOutputTail } from './output-tail.ts';
import { startFailure, trialFailure } from './start-failure.ts';

const ended = { program: 'vllm', why: 'it ended with code 1', exitCode: 1, tail: '' };

describe('why a model server did not start (R-040)', () => {
  test('out_of_memory_is_told_as_a_fault_of_the_settings_with_its_last_lines', () => {
    const tail = 'loading weights\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20 GiB';
    const error = startFailure({ ...ended, tail });
    expect(error.code).toBe('config_invalid');
    expect(error.message).toContain('lower vllm.max_model_len');
    expect(error.message).toContain('Tried to allocate 20 GiB');
  });

  test('arguments_it_does_not_know_are_a_fault_of_the_settings', () => {
    const tail = 'vllm: error: unrecognized arguments: --no-such-flag';
    const error = startFailure({ ...ended, exitCode: 2, tail });
    expect([error.code, error.message.includes('--no-such-flag')]).toEqual(['config_invalid', true]);
  });

  test('any_other_end_may_go_better_next_time', () => {
    const error = startFailure({ ...ended, tail: 'ConnectionError: the model hub does not answer' });
    expect(error.code).toBe('engine_not_ready');
    expect(error.message).toContain('it ended with code 1');
  });

  test('a_long_output_is_told_by_its_end_within_bounds', () => {
    const tail = Array.from({ length: 500 }, (_, n) => `line ${n} ${'x'.repeat(90)}`).join('\n');
    const { message } = startFailure({ ...ended, tail });
    expect(message).toContain('line 499');
    expect(message.length).toBeLessThan(1_100);
  });
});

describe('the last lines of a program (R-025)', () => {
  test('no_secret_of_its_environment_and_no_access_token_is_among_them', () => {
    const tail = createOutputTail({ HF_TOKEN: 'abcdef123', S3_SECRET: 'topsecret', HOME: '/root/home' });
    tail.add('token abcdef123 and topse');
    tail.add('cret, hf_AbCdEfGhIjKl, Authorization: Bearer xyz-1, home /root/home');
    expect(tail.text()).toBe(
      'token [redacted] and [redacted], [redacted], Authorization: Bearer [redacted], home /root/home',
    );
  });

  test('only_the_end_is_kept', () => {
    const tail = createOutputTail({});
    for (let n = 0; n < 10_000; n += 1) tail.add(`line ${n}\n`);
    expect(tail.text().length).toBeLessThanOrEqual(16_000);
    expect(tail.text().endsWith('line 9999')).toBe(true);
  });
});

describe('why a small page of ours was not read (R-040)', () => {
  test.each([
    [
      new ServerRefusal(400, '{"message":"this model is not multimodal"}'),
      'config_invalid',
      'is not multimodal',
    ],
    [new ServerRefusal(404, ''), 'config_invalid', 'with 404 and said: nothing'],
    [new ServerRefusal(500, 'CUDA error'), 'engine_not_ready', 'with 500 and said: CUDA error'],
    [new ServerRefusal(429, 'busy'), 'engine_not_ready', 'busy'],
    [new BrokenReply('no stream'), 'engine_not_ready', 'no stream'],
    ['odd', 'engine_not_ready', 'odd'],
  ] as const)('%s is %s', (cause, code, words) => {
    const error = trialFailure(cause);
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
  });
});
