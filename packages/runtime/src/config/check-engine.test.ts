import { describe, expect, it } from 'vitest';
import { wrong } from './config-kit.ts';

const MONEY = { usd_per_hour: 2, usd_per_day: 20 };
const MACHINE = { max_usd_per_hour: 0.5 };
const POOL = { name: 'ocr', provider: 'runpod', engine: 'surya', min_pods: 0, machine: MACHINE };
const wrongPool = (changes: object) => wrong({ money: MONEY, pools: [{ ...POOL, ...changes }] });

describe('a pool that reads with a model server (R-042, R-070)', () => {
  it('needs_no_image_where_the_worker_reads_and_one_where_the_pod_does', () => {
    expect(wrongPool({})).toEqual({});
    expect(Object.keys(wrongPool({ placement: 'pod' }))).toEqual(['pools[0].machine.image']);
    expect(wrongPool({ placement: 'pod', machine: { ...MACHINE, image: 'our/image' } })).toEqual({});
  });

  it('of_a_stock_image_is_started_and_spoken_to_in_our_way', () => {
    const machine = { ...MACHINE, transport: 'tls-psk', start_command: ['bash'] };
    const found = wrongPool({ machine });
    expect(Object.keys(found)).toEqual(['pools[0].machine.transport', 'pools[0].machine.start_command']);
    for (const transport of ['proxy', 'plain-tcp', 'auto']) {
      expect(wrongPool({ machine: { ...MACHINE, transport } })).toEqual({});
    }
  });

  it('looks_for_prompts_in_the_pod_under_an_absolute_path', () => {
    const inPod = { placement: 'pod', machine: { ...MACHINE, image: 'our/image' } };
    expect(wrongPool({ ...inPod, reading: { prompts: '/opt/prompts' } })).toEqual({});
    expect(wrongPool({ ...inPod, reading: { prompts: 'prompts' } })).toEqual({
      'pools[0].reading.prompts': expect.stringContaining('an absolute path'),
    });
    expect(wrongPool({ reading: { prompts: 'prompts' } })).toEqual({});
  });

  it('is_told_no_secret_by_its_arguments_and_none_is_repeated', () => {
    const args = ['--hf-token', 'hf_something', '--api-key=sk-something', '--api-server-count', '2'];
    const found = wrongPool({ vllm: { args } });
    expect(Object.keys(found)).toEqual(['pools[0].vllm.args[0]', 'pools[0].vllm.args[2]']);
    expect(JSON.stringify(found)).not.toContain('something');
  });

  it('gets_a_secret_by_its_name_in_the_account_and_never_its_value', () => {
    const env = ['HF_HOME=/workspace/hub', 'HF_TOKEN={{ RUNPOD_SECRET_hf }}', 'EMPTY='];
    expect(wrongPool({ machine: { ...MACHINE, env } })).toEqual({});
    const found = wrongPool({
      machine: { ...MACHINE, env: ['HF_TOKEN=hf_abc', 'RUNPOD_API_KEY=rpa', 'no name'] },
    });
    expect(Object.keys(found).sort()).toEqual([0, 1, 2].map((at) => `pools[0].machine.env[${at}]`));
    expect(JSON.stringify(found)).not.toMatch(/hf_abc|rpa"/);
  });

  it.each([['--served-model-name', 'x'], ['--max_num_seqs=1'], ['--port', '8000']])(
    'is_told_once_what_has_a_setting_of_its_own: %s',
    (...args) => {
      expect(Object.keys(wrongPool({ vllm: { args } }))).toEqual(['pools[0].vllm.args[0]']);
    },
  );

  it('may_have_a_program_with_variables_but_no_secret_among_them', () => {
    const command = ['env', 'TOKENIZERS_PARALLELISM=false', 'vllm', 'serve'];
    expect(
      wrongPool({ vllm: { command, args: ['--max-num-seqs-per-x', '--no-enable-prefix-caching'] } }),
    ).toEqual({});
    const told = wrongPool({ vllm: { command: ['env', 'HF_TOKEN=hf_abc', 'vllm', 'serve'] } });
    expect(Object.keys(told)).toEqual(['pools[0].vllm.command[1]']);
    expect(JSON.stringify(told)).not.toContain('hf_abc');
    expect(Object.keys(wrongPool({ vllm: { model: '--help' } }))).toEqual(['pools[0].vllm.model']);
  });

  it('asks_for_no_longer_reply_than_its_server_takes', () => {
    expect(Object.keys(wrongPool({ reading: { max_tokens: 100_000 } }))).toEqual([
      'pools[0].reading.max_tokens',
    ]);
    const short = { reading: { max_tokens: 4_096 }, vllm: { max_model_len: 4_096 } };
    expect(Object.keys(wrongPool(short))).toEqual(['pools[0].reading.max_tokens']);
    expect(wrongPool({ ...short, vllm: { max_model_len: 8_192 } })).toEqual({});
  });

  it('runs_no_gateway_in_an_image_that_has_none', () => {
    for (const image of [
      'vllm/vllm-openai',
      'vllm/vllm-openai:v0.20.1',
      'docker.io/vllm/vllm-openai@sha256:1',
    ])
      expect(Object.keys(wrongPool({ placement: 'pod', machine: { ...MACHINE, image } })), image).toEqual([
        'pools[0].machine.image',
      ]);
    expect(wrongPool({ machine: { ...MACHINE, image: 'vllm/vllm-openai:v0.21.0' } })).toEqual({});
    expect(wrongPool({ placement: 'pod', machine: { ...MACHINE, image: 'me/vllm-openai:1' } })).toEqual({});
  });

  it('has_a_placement_only_where_there_is_a_choice', () => {
    const placed = { engine: 'tesseract', placement: 'worker', machine: { ...MACHINE, image: 'our/image' } };
    expect(Object.keys(wrongPool(placed))).toEqual(['pools[0].placement']);
  });

  it('on_this_machine_is_read_in_the_pod', () => {
    const local = { provider: 'local', machine: {} };
    expect(wrongPool({ ...local, placement: 'worker' })).toEqual({
      'pools[0].placement': expect.stringContaining('pods on this machine are gateways'),
    });
    expect(wrongPool(local)).toEqual({});
  });

  it('has_adapters_under_names_that_lead_nowhere_else', () => {
    const loras = [
      { name: 'style', path: 'org/style' },
      { name: 'ocr', path: 'org/ocr' },
      { name: 'style', path: 'org/other' },
    ];
    expect(wrongPool({ vllm: { loras } })).toEqual({
      'pools[0].vllm.loras[1].name': 'a name other than pools[0].name',
      'pools[0].vllm.loras[2].name': 'a name other than pools[0].vllm.loras[0].name',
    });
  });
});
