import { Type } from 'typebox';
import { duration, section } from './kinds.ts';

/** How an engine on a model server reads a page. 0 means the engine’s own figure. */
export const ReadingConfig = section(
  {
    dpi: Type.Integer({
      minimum: 0,
      maximum: 600,
      default: 0,
      description: 'Resolution at which PDF pages are drawn; 0: the engine’s.',
    }),
    max_tokens: Type.Integer({
      minimum: 0,
      maximum: 131_072,
      default: 0,
      description: 'Longest reply to one request; 0: the engine’s.',
      unit: 'tokens',
    }),
    continuations: Type.Integer({
      minimum: 0,
      maximum: 8,
      default: 0,
      description: 'How often a reply that was cut at its longest is gone on with before it is rejected.',
    }),
    retries: Type.Integer({
      minimum: -1,
      maximum: 16,
      default: -1,
      description: 'Further tries of a page whose reply was rejected; -1: the engine’s.',
    }),
    request_timeout: duration({
      default: '10m',
      min: '1s',
      max: '14m',
      description: 'Longest time one request to the model server takes.',
    }),
    loop_abort: Type.Boolean({
      default: true,
      description: 'A page that starts repeating itself is abandoned while it streams (R-071).',
    }),
    loop_first_look: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 2_000,
      description: 'Not before the reply has this length.',
      unit: 'characters',
    }),
    loop_step: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 500,
      description: 'The reply is looked at every so many characters.',
      unit: 'characters',
    }),
    loop_hits: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 2,
      description: 'Looks in a row that must find a loop.',
    }),
    prompts: Type.String({
      default: '',
      maxLength: 1_000,
      description:
        'Folder with the prompts the model was trained on; empty: ours, in our own words, which cost accuracy.',
    }),
    accent_repair: Type.Boolean({
      default: true,
      description: 'surya: accents that stand beside their letter are put on it.',
    }),
    token_trace: Type.Boolean({
      default: false,
      description: 'surya: every answer carries its tokens with their probabilities.',
    }),
  },
  { description: 'How a page is read by surya, chandra or olmocr.' },
);
