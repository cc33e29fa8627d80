import type { Config, Pool } from '@pagefleet/contract';
import type { Contradiction } from './check-config.ts';

const OURS = /^(?:PAGEFLEET_|RUNPOD_)/;
const SECRET_NAME = /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|KEY)(?:_|$)/i;
const KEPT_BY_RUNPOD = /^\{\{ ?RUNPOD_SECRET_[A-Za-z0-9_-]+ ?\}\}$/;

/** A listing shows a pod’s environment to everybody who may see the account. */
export function checkEnvironments({ pools }: Config): Contradiction[] {
  return pools.flatMap(({ machine }, index) =>
    machine.env.flatMap((entry, at) => {
      const [name = '', value = ''] = entry.split(/=(.*)/s);
      const expected = OURS.test(name)
        ? 'another name: these are set by us and by RunPod'
        : SECRET_NAME.test(name) && !KEPT_BY_RUNPOD.test(value)
          ? 'a secret of the RunPod account, {{ RUNPOD_SECRET_name }}, and not its value'
          : null;
      return expected === null ? [] : [wrong(`pools[${index}].machine.env[${at}]`, name, expected)];
    }),
  );
}

/** vLLM’s arguments that carry a secret. */
const SECRET_ARGUMENT = /^--(?:api[-_]key|hf[-_]token)(?=$|=)/;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=./s;

/** What vLLM is told by settings of their own, and once only: the last one would hold, against what the rest of us counts on. */
const TOLD_BY_US: Readonly<Record<string, string>> = {
  host: 'nothing: the pod chooses it',
  port: 'nothing: the pod chooses it',
  model: 'vllm.model',
  'served-model-name': 'models: a pool answers to all of its names',
  'max-model-len': 'vllm.max_model_len',
  'gpu-memory-utilization': 'vllm.gpu_memory_utilization',
  'max-num-seqs': 'width: a smaller number would be a queue that nobody counts',
  'max-num-batched-tokens': 'vllm.max_batched_tokens',
  'lora-modules': 'vllm.loras',
};

/** Program and arguments are seen by whoever looks at a pod’s processes or asks for its health, so no secret is in them. */
export function checkServer({ vllm }: Pool, path: string): Contradiction[] {
  const written = [
    ...vllm.command.map((text, at) => ({ text, at: `${path}.command[${at}]` })),
    ...vllm.args.map((text, at) => ({ text, at: `${path}.args[${at}]` })),
  ];
  const found = written.flatMap(({ text, at }) => {
    const secret = SECRET_ARGUMENT.exec(text)?.[0] ?? secretVariable(text);
    if (secret !== undefined)
      return [wrong(at, secret, 'no secret: arguments are shown to everybody who may reach the pod')];
    const option = /^--([a-z-]+)(?=$|=)/.exec(text.replaceAll('_', '-'))?.[1] ?? '';
    const instead = Object.hasOwn(TOLD_BY_US, option) ? TOLD_BY_US[option] : undefined;
    return instead === undefined ? [] : [wrong(at, `--${option}`, instead)];
  });
  if (!vllm.model.startsWith('-')) return found;
  return [...found, wrong(`${path}.model`, JSON.stringify(vllm.model), 'a name of weights, not an option')];
}

function secretVariable(text: string): string | undefined {
  const name = ASSIGNMENT.exec(text)?.[1];
  return name !== undefined && SECRET_NAME.test(name) ? name : undefined;
}

function wrong(path: string, got: string, expected: string): Contradiction {
  return { path, got, expected, involves: [] };
}
