import { Type } from 'typebox';
import { duration } from './kinds.ts';
import { MachineConfig, ScheduleWindow } from './machine.ts';
import { ReadingConfig } from './reading.ts';
import { VllmConfig } from './vllm.ts';

const name = Type.String({ pattern: '^[a-z][a-z0-9-]{0,30}$' });

/** One pool, as the operator writes it. */
export const PoolConfig = Type.Object(
  {
    name: Type.Unsafe<string>({ ...name, description: 'Name of the pool, in logs, status and pod names.' }),
    models: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      default: [],
      description: 'Model names a client may ask for beside the pool’s own name.',
    }),
    fallback: Type.String({
      default: '',
      description:
        'Pool that reads the documents of this one while it takes none, unless the request says `require: fleet` (R-022). Empty: none, they are refused.',
    }),
    provider: Type.Union([Type.Literal('local'), Type.Literal('runpod')], {
      default: 'local',
      description:
        'Where the pods come from. All pools of a cluster share one provider. `runpod` costs money and needs `money` and `runpod.api_key_file`.',
    }),
    machine: MachineConfig,
    schedule: Type.Array(ScheduleWindow, {
      maxItems: 32,
      default: [],
      description:
        'Floors and caps by time of day (R-055). Where windows overlap, the largest floor and the smallest cap count.',
    }),
    engine: Type.Union(
      [
        Type.Literal('tesseract'),
        Type.Literal('sleep'),
        Type.Literal('surya'),
        Type.Literal('chandra'),
        Type.Literal('olmocr'),
      ],
      {
        default: 'tesseract',
        description:
          'What reads a page. `surya`, `chandra` and `olmocr` need a GPU. `sleep` reads nothing: it holds a page for a set time and says so in every answer.',
      },
    ),
    placement: Type.Union([Type.Literal('auto'), Type.Literal('worker'), Type.Literal('pod')], {
      default: 'auto',
      description:
        'Where surya, chandra and olmocr draw and prompt: on the `worker`, against a stock vLLM image; on the `pod`, in our own image. auto: worker on RunPod, pod on this machine.',
    }),
    vllm: VllmConfig,
    reading: ReadingConfig,
    width: Type.Integer({
      minimum: 1,
      maximum: 1_024,
      default: 1,
      description: 'Pages in flight on one pod.',
      unit: 'pages',
    }),
    min_pods: Type.Integer({
      minimum: 0,
      maximum: 512,
      default: 0,
      description: 'Floor: pods kept ready.',
      unit: 'pods',
    }),
    max_pods: Type.Integer({
      minimum: 0,
      maximum: 512,
      default: 1,
      description: 'Cap: pods never exceeded; 0 turns renting off.',
      unit: 'pods',
    }),
    boot_deadline: duration({
      default: '2m',
      min: '1s',
      max: '2h',
      description: 'A pod that does not answer by then is ended.',
    }),
    boot_estimate: duration({
      default: '3s',
      min: '0',
      max: '1h',
      description: 'What one boot costs in time: the measure of rent-or-wait and keep-or-drop.',
    }),
    idle_timeout: duration({
      default: '60s',
      min: '0',
      max: '7d',
      description: 'An idle pod above the floor is kept this long.',
    }),
    dead_man: duration({
      default: '20m',
      min: '5s',
      max: '24h',
      description: 'A pod that has not heard from its owner for this long ends itself (R-044).',
    }),
    languages: Type.Array(Type.String({ pattern: '^[a-z]{3}(_[a-z]+)?$' }), {
      minItems: 1,
      maxItems: 8,
      default: ['eng'],
      description: 'Languages of the CPU engine, unless the request names others.',
    }),
    dpi: Type.Integer({
      minimum: 72,
      maximum: 600,
      default: 200,
      description: 'Resolution at which PDF pages are drawn.',
    }),
    tesseract: Type.Union([Type.Literal('auto'), Type.Literal('cli'), Type.Literal('js')], {
      default: 'auto',
      description: 'Debian’s program or the WebAssembly build; auto takes the program when it is installed.',
    }),
    page_timeout: duration({
      default: '2m',
      min: '1s',
      max: '14m',
      description: 'Longest time the CPU engine works on a page.',
    }),
    sleep: duration({
      default: '1s',
      min: '0',
      max: '14m',
      description: 'How long the sleep engine holds a page.',
    }),
  },
  { additionalProperties: false },
);
