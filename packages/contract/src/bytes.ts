const UNIT_BYTES = {
  B: 1,
  KB: 1_000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
} as const;

export type BytesResult =
  | { readonly ok: true; readonly bytes: number }
  | { readonly ok: false; readonly reason: string };

/** `50MB`, `256MiB`, `0`. Decimal and binary units are told apart as the IEC does. */
export function parseBytes(text: string): BytesResult {
  const input = text.trim();
  if (input === '0') return { ok: true, bytes: 0 };
  const match = /^(\d+(?:\.\d+)?)(B|KB|MB|GB|KiB|MiB|GiB)$/.exec(input);
  if (!match) return { ok: false, reason: `"${text}" is not a size; expected a form like 50MB or 256MiB` };
  const bytes = Math.round(Number(match[1]) * UNIT_BYTES[match[2] as keyof typeof UNIT_BYTES]);
  if (!Number.isSafeInteger(bytes)) return { ok: false, reason: `"${text}" is out of range` };
  return { ok: true, bytes };
}

export function formatBytes(bytes: number): string {
  for (const unit of ['GiB', 'GB', 'MiB', 'MB', 'KiB', 'KB'] as const) {
    if (bytes > 0 && bytes % UNIT_BYTES[unit] === 0) return `${bytes / UNIT_BYTES[unit]}${unit}`;
  }
  return bytes === 0 ? '0' : `${bytes}B`;
}
