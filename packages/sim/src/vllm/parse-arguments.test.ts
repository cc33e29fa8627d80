import { expect, test } from 'vitest';
import { parseArguments, withoutSecrets } from './parse-arguments.ts';

test('the flags of vllm serve that matter are read, the others are taken as they are', () => {
  const words =
    'serve org/model --host 0.0.0.0 --port 8123 --served-model-name a b --dtype bfloat16 --enable-lora ' +
    '--lora-modules x=/p {"name":"y","path":"/q"} --max-num-seqs=7 --max_model_len 99 --no-enable-log-requests';
  expect(parseArguments(words.split(' '))).toEqual({
    ...{ model: 'org/model', host: '0.0.0.0', port: 8_123, servedNames: ['a', 'b'], apiKey: null },
    loras: [
      { name: 'x', path: '/p' },
      { name: 'y', path: '/q' },
    ],
    ...{ maxSequences: 7, maxModelLen: 99, maxBatchedTokens: 8_192 },
  });
});

test('without a name of its own the model is served under its path', () => {
  expect(parseArguments(['serve', 'm'], { VLLM_API_KEY: 'k' })).toMatchObject({
    servedNames: ['m'],
    apiKey: 'k',
  });
});

test('a command line that makes no sense is refused with what was expected', () => {
  expect(() => parseArguments(['chat'])).toThrow('expected "serve MODEL [flags]", got "chat"');
  expect(() => parseArguments(['serve', '--port', '1'])).toThrow('the model is missing');
  expect(() => parseArguments(['serve', 'm', '--port', 'x'])).toThrow(
    '--port: expected a whole number, got "x"',
  );
  expect(() => parseArguments(['serve', 'm', '--lora-modules', 'x'])).toThrow('expected name=path, got "x"');
});

test('a record holds no key, however it was given', () => {
  expect(withoutSecrets(['serve', 'm', '--api-key', 's3', '--api-key=s3', '--port', '1'])).toEqual(
    'serve m --api-key *** --api-key=*** --port 1'.split(' '),
  );
});
