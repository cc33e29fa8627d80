import type { Pictures, ReadPicture } from './pictures.ts';
import { badRequest } from './refusal.ts';

/** The messages of a chat, read. */
export interface ReadMessages {
  readonly texts: readonly { readonly role: string; readonly text: string }[];
  readonly pictures: readonly ReadPicture[];
  /** the messages with every picture replaced */
  readonly told: readonly unknown[];
}

type Part = {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly image_url?: { readonly url?: unknown };
};

/** Throws a refusal for what vLLM would not take. */
export async function readMessages(messages: unknown, pictures: Pictures): Promise<ReadMessages> {
  if (!Array.isArray(messages) || messages.length === 0)
    throw badRequest('messages: expected a list that is not empty', 'messages');
  const texts: { role: string; text: string }[] = [];
  const found: ReadPicture[] = [];
  const told: unknown[] = [];
  for (const message of messages as unknown[]) {
    const { role, content = null, tool_calls: calls } = (message ?? {}) as Record<string, unknown>;
    if (typeof role !== 'string') throw badRequest('messages: expected a role in each of them', 'messages');
    const extra = calls === undefined ? '' : JSON.stringify(calls);
    if (!Array.isArray(content)) {
      texts.push({ role, text: `${typeof content === 'string' ? content : ''}${extra}` });
      told.push(message);
      continue;
    }
    const parts = await readParts(content as Part[], pictures);
    texts.push({ role, text: `${parts.text}${extra}` });
    found.push(...parts.found);
    told.push({ ...(message as object), content: parts.told });
  }
  return { texts, pictures: found, told };
}

async function readParts(parts: readonly Part[], pictures: Pictures) {
  let text = '';
  const found: ReadPicture[] = [];
  const told: unknown[] = [];
  for (const part of parts) {
    const url = part.image_url?.url;
    if (part.type === 'text' && typeof part.text === 'string') {
      text += part.text;
      told.push(part);
    } else if (part.type === 'image_url' && typeof url === 'string') {
      const picture = await pictures.read(url);
      found.push(picture);
      told.push({ ...part, image_url: { ...part.image_url, url: picture.sent } });
    } else throw badRequest(`Unknown part type: ${JSON.stringify(part.type)}`, 'messages');
  }
  return { text, found, told };
}
