export type ReplyFormat = 'json' | 'ndjson' | 'markdown' | 'text';

const BY_TYPE: Readonly<Record<string, ReplyFormat>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/markdown': 'markdown',
  'text/plain': 'text',
};

/** The format of `Accept` with the highest weight, the first of equals; `otherwise` when it names none of ours. */
export function chooseFormat(accept: string | undefined, otherwise: ReplyFormat): ReplyFormat {
  let best: { format: ReplyFormat; weight: number } | null = null;
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const format = BY_TYPE[type];
    const weight = weightOf(parameters);
    if (format && weight > (best?.weight ?? 0)) best = { format, weight };
  }
  return best?.format ?? otherwise;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return Number.isFinite(weight) ? weight : 0;
}
