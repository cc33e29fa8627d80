import { Type } from 'typebox';
import { duration, section } from './kinds.ts';

const LoraConfig = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
      description: 'Model name that leads a request to the adapter.',
    }),
    path: Type.String({
      pattern: '^[^=\\s,]+$',
      maxLength: 300,
      description: 'Where the server finds the adapter: a folder in the pod or a name on the model hub.',
    }),
  },
  { additionalProperties: false },
);

/** The model server of the engines surya, chandra and olmocr. 0 and empty mean the engine’s own figure. */
export const VllmConfig = section(
  {
    command: Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
      minItems: 1,
      maxItems: 16,
      default: ['vllm', 'serve'],
      description: 'Program in the pod that serves a model; its arguments are written behind.',
    }),
    model: Type.String({
      default: '',
      maxLength: 300,
      description: 'Weights to be served; empty: those of the engine.',
    }),
    max_model_len: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: 'Longest prompt and reply together; 0: the engine’s.',
      unit: 'tokens',
    }),
    gpu_memory_utilization: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: 'Share of the card’s memory that the server may take; 0: the engine’s.',
    }),
    max_batched_tokens: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: 'Tokens of one step; 0: the engine’s, by the card’s memory.',
      unit: 'tokens',
    }),
    args: Type.Array(Type.String({ maxLength: 1_000 }), {
      maxItems: 64,
      default: [],
      description: 'Further arguments, handed to the server as they are.',
    }),
    loras: Type.Array(LoraConfig, {
      maxItems: 32,
      default: [],
      description: 'Adapters that are served beside the model, each under a name of its own.',
    }),
    start_timeout: duration({
      default: '20m',
      min: '1s',
      max: '2h',
      description: 'A server that does not answer by then is stopped and started again.',
    }),
  },
  { description: 'The model server of a pool that reads with surya, chandra or olmocr.' },
);
