/** An answer that is no reply, in vLLM's words. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly type: string;
  readonly param: string | null;

  constructor(
    status: number,
    message: string,
    { type, param = null }: { readonly type?: string; readonly param?: string | null } = {},
  ) {
    super(message);
    this.status = status;
    this.type = type ?? typeOf(status);
    this.param = param;
  }
}

export function badRequest(message: string, param: string | null = null): Refusal {
  return new Refusal(400, message, { param });
}

export function errorBody({ status, message, type, param }: Omit<Refusal, 'name'>): string {
  return JSON.stringify({ error: { message, type, param, code: status } });
}

function typeOf(status: number): string {
  if (status === 404) return 'NotFoundError';
  return status < 500 ? 'BadRequestError' : 'InternalServerError';
}
