interface ValidationError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** What one client can act on: the first thing wrong, by its path in the request. */
export function explainInvalid(
  body: unknown,
  errors: readonly ValidationError[],
): { param: string; message: string } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { param: '', message: 'expected an object with a "document"' };
  }
  const first = errors[0];
  if (!first) return { param: '', message: 'the request does not fit its schema' };
  const path = topLevel(first.instancePath);
  if (path === 'document') return explainDocument((body as Record<string, unknown>).document);
  if (path !== '' && !errors.some((error) => unknownField(error) === path)) {
    const reasons = errors
      .filter((e) => topLevel(e.instancePath) === path && e.keyword !== 'anyOf')
      .map(reason);
    return { param: path, message: `${path} ${[...new Set(reasons)].join(' or ')}` };
  }
  const unknown = errors.map(unknownField).find((field) => field !== null);
  if (unknown) return { param: unknown, message: `unknown field "${unknown}"` };
  return { param: 'document', message: '"document" is missing' };
}

const FORMS = {
  document_url: '{"type": "document_url", "document_url": "data:application/pdf;base64,…"}',
  image_url: '{"type": "image_url", "image_url": "data:image/png;base64,…"}',
  file: '{"type": "file", "file_id": "…"}',
} as const;

function explainDocument(document: unknown): { param: string; message: string } {
  if (document === undefined) return { param: 'document', message: '"document" is missing' };
  const type =
    typeof document === 'object' && document !== null && 'type' in document ? document.type : undefined;
  const form = typeof type === 'string' && type in FORMS ? FORMS[type as keyof typeof FORMS] : null;
  if (form) return { param: 'document', message: `document does not have the form ${form}` };
  return {
    param: 'document.type',
    message: `document.type is ${JSON.stringify(type) ?? 'missing'}; expected ${Object.keys(FORMS).join(', ')}`,
  };
}

function unknownField(error: ValidationError): string | null {
  if (error.keyword !== 'additionalProperties' || error.instancePath !== '') return null;
  const names = (error.params as { additionalProperties?: unknown }).additionalProperties;
  return Array.isArray(names) && typeof names[0] === 'string' ? names[0] : null;
}

function reason(error: ValidationError): string {
  const { allowedValue } = error.params as { allowedValue?: unknown };
  return allowedValue === undefined ? error.message : `must be ${JSON.stringify(allowedValue)}`;
}

/** `/pages/0` → `pages` */
function topLevel(path: string): string {
  return path.split('/')[1] ?? '';
}
