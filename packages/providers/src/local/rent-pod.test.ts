import { expect, test } from 'vitest';
import { passedOn } from './rent-pod.ts';

test('a_pod_gets_of_our_environment_what_its_engine_needs_and_nothing_else', () => {
  const needed = {
    ...{ PATH: '/bin', HF_TOKEN: 'hf', HF_HOME: '/hub', CUDA_VISIBLE_DEVICES: '0' },
    ...{ https_proxy: 'http://proxy', NO_PROXY: 'localhost', VLLM_LOGGING_LEVEL: 'INFO' },
  };
  const kept = {
    ...{ RUNPOD_API_KEY: 'rpa', PAGEFLEET_API_KEY: 'pf', AWS_SECRET_ACCESS_KEY: 'aws', HFX: 'x' },
    ...{ LANG: '', MY_HF_TOKEN: 'x', NODE_OPTIONS: '--inspect' },
  };
  expect(passedOn({ ...needed, ...kept })).toEqual(needed);
});
