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
