import type { HeaderOf } from '@pagefleet/core';

export const API_NAMES = ['rest', 'graphql'] as const;
/** `rest` is REST v2. Nothing of ours calls v1. */
export type ApiName = (typeof API_NAMES)[number];

export type Operation = 'list' | 'terminate' | 'billing' | 'catalogue' | 'create' | 'create-spot';

export interface ApiCall {
  readonly operation: Operation;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** below the address of the API */
  readonly path: string;
  /** sent as JSON */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export type ApiAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly header: HeaderOf;
      readonly text: string;
      /** undefined: not JSON */
      readonly body: unknown;
    }
  /** the API may not be asked before that */
  | { readonly kind: 'withheld'; readonly untilMs: number }
  /** no connection could be made: nothing was asked */
  | { readonly kind: 'not-sent'; readonly cause: unknown }
  /** sent, perhaps carried out, and the answer never came or broke off */
  | { readonly kind: 'lost'; readonly cause: unknown };

/** One API, as a function; each wrapper adds one behaviour to it. Does not throw. */
export type Send = (call: ApiCall) => Promise<ApiAnswer>;

export const READ_TIMEOUT_MS = 30_000;
export const CREATE_TIMEOUT_MS = 60_000;

export interface Clock {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}
