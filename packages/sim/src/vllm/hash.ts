import { createHash } from 'node:crypto';

export function sha256(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** 0 ≤ x < 1, the same for the same text. */
export function shareOf(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 12), 16) / 2 ** 48;
}
