import { Type } from 'typebox';
import { duration, section } from './kinds.ts';

const CardRule = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 100, description: 'Card as RunPod names it: `NVIDIA A40`.' }),
    max_usd_per_hour: Type.Number({
      minimum: 0,
      maximum: 1_000,
      default: 0,
      description: 'Ceiling for this card; 0 leaves only the pool’s own.',
      unit: '$/h',
    }),
  },
  { additionalProperties: false },
);

/** What is rented for a pool of a provider that costs money. Nothing of it concerns local pods. */
export const MachineConfig = section(
  {
    image: Type.String({
      default: '',
      maxLength: 300,
      description:
        'Container image of the pods; needed for `runpod`, unless the worker reads: then empty means the stock vLLM image.',
    }),
    start_command: Type.Array(Type.String({ maxLength: 4_000 }), {
      default: [],
      maxItems: 64,
      description: 'Command of the container; empty: the image’s own.',
    }),
    env: Type.Array(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*=[^\\u0000]*$', maxLength: 2_000 }), {
      default: [],
      // RunPod takes 50 variables, and we tell a pod 38 at most.
      maxItems: 12,
      description:
        'Further environment of the pods, `NAME=value`; a secret is named as RunPod keeps it: `HF_TOKEN={{ RUNPOD_SECRET_hf }}`.',
    }),
    cards: Type.Array(CardRule, {
      default: [],
      maxItems: 64,
      description: 'Cards that may be rented; empty: every card within memory floor and ceiling.',
    }),
    min_vram_gb: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      default: 0,
      description: 'Least memory of a card.',
      unit: 'GB',
    }),
    clouds: Type.Array(Type.Union([Type.Literal('secure'), Type.Literal('community')]), {
      minItems: 1,
      maxItems: 2,
      default: ['secure'],
      description: 'RunPod’s own data centres, those of its partners, or both.',
    }),
    spot: Type.Union([Type.Literal('never'), Type.Literal('prefer'), Type.Literal('only')], {
      default: 'never',
      description:
        'Interruptible pods: never; first, and on-demand where none is to be had; or only them (R-056).',
    }),
    max_usd_per_hour: Type.Number({
      minimum: 0,
      maximum: 1_000,
      default: 0,
      description:
        'Ceiling per pod: nothing dearer is rented, and a pod that bills more is ended (R-052). 0: only the cards’ own ceilings.',
      unit: '$/h',
    }),
    disk_gb: Type.Integer({
      minimum: 1,
      maximum: 2_000,
      default: 40,
      description: 'Container disk; at least the unpacked image.',
      unit: 'GB',
    }),
    min_cuda: Type.String({
      pattern: '^([0-9]+\\.[0-9]+)?$',
      default: '12.4',
      description: 'Least CUDA version of the host; a host below the image’s never starts it.',
    }),
    min_vcpu: Type.Integer({
      minimum: 0,
      maximum: 256,
      default: 0,
      description: 'Least processors per pod; 0: any.',
    }),
    min_memory_gb: Type.Integer({
      minimum: 0,
      maximum: 2_000,
      default: 0,
      description: 'Least main memory per pod; 0: any.',
      unit: 'GB',
    }),
    data_centers: Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
      default: [],
      maxItems: 64,
      description: 'Data centres to be tried first in the secure cloud; a network volume forces its own.',
    }),
    network_volume: Type.String({
      default: '',
      description: 'Id of a network volume, mounted at `volume_path`.',
    }),
    global_volume: Type.String({
      default: '',
      description: 'Id of a global volume, mounted at `volume_path`; left out where RunPod refuses it.',
    }),
    volume_path: Type.String({
      pattern: '^/.+',
      default: '/workspace',
      description: 'Where a volume is mounted.',
    }),
    registry_auth: Type.String({
      default: '',
      description: 'Id of the registry credential that pulls the image.',
    }),
    transport: Type.Union(
      [Type.Literal('auto'), Type.Literal('tls-psk'), Type.Literal('plain-tcp'), Type.Literal('proxy')],
      {
        default: 'auto',
        description:
          'How pods are spoken to. `tls-psk` proves each side to the other and hides pages; `proxy` is RunPod’s HTTPS proxy with its 100 s limit; `plain-tcp` sends pages and tokens in the clear. auto: `tls-psk` to our own image, `proxy` to a stock one, which has no `tls-psk`.',
      },
    ),
    max_age: duration({
      default: '24h',
      min: '1h',
      max: '7d',
      description: 'A pod is replaced before this age; the provider is told to end it then (R-044).',
    }),
  },
  { description: 'What is rented for a pool that costs money.' },
);

export const ScheduleWindow = Type.Object(
  {
    from: Type.String({
      pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
      description: 'Start, `HH:MM` in `money.time_zone`.',
    }),
    to: Type.String({
      pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
      description: 'End, `HH:MM`; one not after `from` is on the next day.',
    }),
    days: Type.Array(
      Type.Union(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((day) => Type.Literal(day))),
      { default: [], maxItems: 7, description: 'Days on which it starts; empty: every day.' },
    ),
    min_pods: Type.Integer({ minimum: 0, maximum: 512, default: 0, description: 'Floor in this window.' }),
    max_pods: Type.Integer({
      minimum: -1,
      maximum: 512,
      default: -1,
      description: 'Cap in this window; -1: none of its own.',
    }),
  },
  { additionalProperties: false },
);
