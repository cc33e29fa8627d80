import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiName } from '../table/knobs.ts';

/** Who asks. `nobody` sent no key, `stranger` one that is not known. */
export type Caller =
  | { readonly kind: 'account'; readonly key: string; readonly mayWrite: boolean }
  | { readonly kind: 'pod'; readonly key: string; readonly podId: string }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'stranger' };

export interface Call {
  readonly api: ApiName;
  readonly method: string;
  /** below the service's prefix, without the query */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
}
