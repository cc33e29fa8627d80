import { expect, test } from 'vitest';
import { SIMULATED_VLLM, startCompanion } from './companion-process.ts';

const MODEL_ARGS = ['some/model', '--served-model-name', 'simulated'];
/** Prints so many megabytes before it serves. */
const talkative = (megabytes: number) => ({
  serverCommand: [
    ...['sh', '-c', `yes some words of a log | head -c ${megabytes}000000; exec "$@"`, 'sh'],
    ...SIMULATED_VLLM,
    ...MODEL_ARGS,
  ],
});

test('a_log_that_nobody_takes_holds_up_nothing (R-044)', { timeout: 60_000 }, async () => {
  const companion = startCompanion({ settings: talkative(2), isLogStalled: true });
  await companion.until('ready');
  expect((await companion.chat('page-1')).status).toBe(200);
  companion.child.kill('SIGTERM');
  expect(await companion.exited).toBe(0);
});

test('what_the_model_server_prints_is_passed_on_within_bounds_and_the_rest_is_said_to_be_left_out', {
  timeout: 60_000,
}, async () => {
  const companion = startCompanion({ settings: talkative(20) });
  await companion.until('ready');
  expect(companion.log().length).toBeLessThan(4_000_000);
  expect(companion.log()).toContain('some words of a log');
  expect(companion.log()).toMatch(/more than 65536 bytes a second: left out from here/);
});
