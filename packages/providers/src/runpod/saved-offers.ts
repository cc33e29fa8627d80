import { readFile } from 'node:fs/promises';
import type { OfferBook } from '@pagefleet/core';
import { writeFileAtomic } from '@pagefleet/runtime';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const MAX_BYTES = 4 * 1_024 * 1_024;

const saved = Compile(
  Type.Object({
    v: Type.Literal(1),
    atMs: Type.Number({ minimum: 0 }),
    offers: Type.Array(
      Type.Object({
        card: Type.String({ minLength: 1 }),
        cloud: Type.Union([Type.Literal('secure'), Type.Literal('community')]),
        spot: Type.Boolean(),
        memoryGb: Type.Number({ minimum: 0 }),
        priceUsdPerHour: Type.Number({ exclusiveMinimum: 0 }),
        stock: Type.Union([
          ...['high', 'medium', 'low', 'none'].map((word) => Type.Literal(word)),
          Type.Null(),
        ]),
      }),
    ),
  }),
);

/** The copy for times without any API; it keeps the time at which it was fetched. */
export async function saveOffers(path: string, { atMs, offers }: OfferBook): Promise<void> {
  await writeFileAtomic(path, JSON.stringify({ v: 1, atMs, offers }));
}

/** null: there is none, or it is damaged. */
export async function loadOffers(path: string): Promise<OfferBook | null> {
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text === '' || text.length > MAX_BYTES) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!saved.Check(value)) return null;
  return { atMs: value.atMs, source: 'saved', offers: value.offers as OfferBook['offers'] };
}
