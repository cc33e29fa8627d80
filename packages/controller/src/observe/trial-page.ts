import { GATEWAY_PATHS, MODEL_PATHS, PageResult } from '@pagefleet/contract';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

/** What a refusing pod has to do before it gets the pages of others again. */
export interface Trial {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer | string;
  readonly isReading: (said: unknown) => boolean;
}

/** A white picture with the words `one page`, 240 × 60, drawn for this purpose: the smallest honest page. */
const PNG_BASE64 = [
  'iVBORw0KGgoAAAANSUhEUgAAAPAAAAA8AQMAAABisaUeAAAABlBMVEX///8mJiZ40e/1AAAACXBIWXMAAAsTAAALEwEAmpwYAAABB0lEQVQ4y+3TP27D',
  'IBQG8I+60tt4PoCFr9DRQ1RfyWOGKCbtkGthde8ZiLpHjB6sUIgrtZDGeyu/AQl+A9/jD7DWWv+jhHtQYIPHDVrQC3Yp00S9bi2kF97UZ+FT5gt5',
  '049gf/C2vRReJ6yYBuMa8OsA2ygqTMIbIm1tBRYGXaekSLkhwslUkFeWEjkfZ4ad2aZcBPZT5N5ZWft7fPLLbLrI5pbDksSH7pxU2aHO0b44RsNN',
  'Yzbsx+JNx74zrvib3VZxxkoF3oZTOx4G97wnnUbjKXA7Xa/E1eciS05j4HqE3MN3/I7sxhCnIiQvUcb85e+vRv4Y73K1yE+7RW7HRa7d+nX/dH0C',
  'HdZ09hY97JoAAAAASUVORK5CYII=',
].join('');

const pageResult = Compile(PageResult);
const chatResult = Compile(Type.Object({ choices: Type.Array(Type.Object({}), { minItems: 1 }) }));

export function trialPage(): Trial {
  return {
    path: GATEWAY_PATHS.page,
    type: 'image/png',
    body: Buffer.from(PNG_BASE64, 'base64'),
    isReading: (said) => pageResult.Check(said),
  };
}

/** A stock pod draws and prompts nothing, so it is asked for what a worker asks it for: a reply, of one token. */
export function trialChat(model: string): Trial {
  const url = `data:image/png;base64,${PNG_BASE64}`;
  const content = [
    { type: 'image_url', image_url: { url } },
    { type: 'text', text: 'Read.' },
  ];
  return {
    path: MODEL_PATHS[0],
    type: 'application/json',
    body: JSON.stringify({ model, max_tokens: 1, messages: [{ role: 'user', content }] }),
    isReading: (said) => chatResult.Check(said),
  };
}
