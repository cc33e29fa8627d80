import { type ErrorBody, type PagefleetError, toErrorBody } from '@pagefleet/contract';

/** An error as OpenAI’s clients read it; ours stands in it whole, figures of R-013 included. */
export function toOpenAiError(
  error: PagefleetError,
  requestId: string,
): { error: Omit<ErrorBody, 'object'> } {
  const { object: _, retryAfterSeconds: __, ...body } = toErrorBody(error, requestId);
  return { error: body };
}
