import { type Static, Type } from 'typebox';

/**
 * HTTP between a worker or the controller and the gateway in a pod.
 *
 *   GET    /healthz        open, in milliseconds, never starts or waits for an engine
 *   POST   /v1/page        one page in (raw bytes), `PageResult` out; bearer token
 *   DELETE /v1/page/{id}   ends the reading of a page and answers once it is over; bearer token
 *   POST   /v1/chat/completions, /v1/completions, /v1/embeddings   the model server's own (`MODEL_PATHS`), as bytes both
 *                          ways; the same headers, slots and errors as a page; bearer token. 404 where no model server runs
 *   POST   /v1/shutdown    ends the pod when idle (`PodShutdown`); bearer token
 */
export const GATEWAY_PATHS = {
  health: '/healthz',
  page: '/v1/page',
  shutdown: '/v1/shutdown',
} as const;

/** What a pod with a model server passes on to it, as OpenAI's clients call it. */
export const MODEL_PATHS = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'] as const;
export type ModelPath = (typeof MODEL_PATHS)[number];

/**
 * Headers of `POST /v1/page` and of `MODEL_PATHS`, lower case. `options` is of pages alone; `readings` is of answers to pages,
 * failures included.
 */
export const PAGE_HEADERS = {
  /** unique per dispatch, `[A-Za-z0-9._-]{1,120}`; also the key of `DELETE` */
  pageId: 'x-page-id',
  /** cluster id; a pod that heard another owner within the dead-man time answers 409 `wrong_owner` */
  owner: 'x-owner',
  /** milliseconds left for this page; the gateway gives up then with 504 `page_deadline` */
  deadlineMs: 'x-page-deadline-ms',
  /** `PageOptions` as base64url JSON */
  options: 'x-page-options',
  requestId: 'x-request-id',
  /** what the page has cost a model server (`ReadingFigures`); absent where none was asked */
  readings: 'x-page-readings',
} as const;

/**
 * Headers of `GET /healthz`. A prober sends a nonce and its own proof; the pod answers with its proof. Both are
 * `hex(HMAC-SHA256(token, "<side>:" + nonce))` with side `pod` or `owner`, so neither side discloses the token.
 * A request with a valid owner proof counts as "heard from the owner" for the dead-man switch.
 */
export const PROOF_HEADERS = {
  nonce: 'x-pagefleet-nonce',
  ownerProof: 'x-pagefleet-owner-proof',
  podProof: 'x-pagefleet-pod-proof',
} as const;

export const PageOptions = Type.Object(
  {
    languages: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z]{3}(_[a-z]+)?$' }), { maxItems: 8 })),
    words: Type.Optional(Type.Boolean({ description: 'also return word boxes and confidences' })),
    blocks: Type.Optional(Type.Boolean({ description: 'also return blocks with boxes' })),
  },
  { additionalProperties: false },
);
export type PageOptions = Static<typeof PageOptions>;

const Box = Type.Object({
  x0: Type.Integer(),
  y0: Type.Integer(),
  x1: Type.Integer(),
  y1: Type.Integer(),
});

export const Word = Type.Object({
  text: Type.String(),
  confidence: Type.Number({ minimum: 0, maximum: 100 }),
  box: Box,
});
export type Word = Static<typeof Word>;

/** What a block is: Mistral's kinds, which its clients know. */
export const BlockKind = Type.Union([
  Type.Literal('text'),
  Type.Literal('title'),
  Type.Literal('list'),
  Type.Literal('table'),
  Type.Literal('image'),
  Type.Literal('equation'),
  Type.Literal('code'),
  Type.Literal('caption'),
  Type.Literal('header'),
  Type.Literal('footer'),
  Type.Literal('references'),
]);
export type BlockKind = Static<typeof BlockKind>;

export const Block = Type.Object({
  kind: BlockKind,
  text: Type.String(),
  box: Box,
  confidence: Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()]),
});
export type Block = Static<typeof Block>;

/** What one page reads as. Boxes are pixels of the picture described by width, height and dpi, after rotation. */
export const PageResult = Type.Object({
  text: Type.String(),
  markdown: Type.String(),
  /** 0–100; null when nothing was read (a blank page) */
  confidence: Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()]),
  width: Type.Integer({ minimum: 0 }),
  height: Type.Integer({ minimum: 0 }),
  dpi: Type.Integer({ minimum: 1 }),
  /** degrees clockwise by which the picture was turned to be read */
  rotation: Type.Union([Type.Literal(0), Type.Literal(90), Type.Literal(180), Type.Literal(270)]),
  blocks: Type.Optional(Type.Array(Block)),
  words: Type.Optional(Type.Array(Word)),
  /** tokens of the reply with the logarithm of their probability, where the pool asks for them */
  trace: Type.Optional(Type.Array(Type.Object({ token: Type.String(), logprob: Type.Number() }))),
  /** names the engine, `sleep` included: no answer hides a simulation */
  engine: Type.String(),
  engineMs: Type.Number({ minimum: 0 }),
});
export type PageResult = Static<typeof PageResult>;

export const EngineState = Type.Union([
  Type.Literal('starting'),
  Type.Literal('ready'),
  Type.Literal('busy'),
  Type.Literal('dead'),
]);
export type EngineState = Static<typeof EngineState>;

export const PodHealth = Type.Object({
  v: Type.Literal(1),
  podId: Type.String(),
  engine: EngineState,
  /** why the engine cannot start as the pod is set up, for people; absent where nothing says so */
  engineFault: Type.Optional(Type.String()),
  engineName: Type.String(),
  engineVersion: Type.String(),
  width: Type.Integer({ minimum: 1 }),
  inflight: Type.Integer({ minimum: 0 }),
  waiting: Type.Integer({ minimum: 0 }),
  pagesDone: Type.Integer({ minimum: 0 }),
  uptimeMs: Type.Integer({ minimum: 0 }),
  cpuPercent: Type.Number({ minimum: 0 }),
  rssBytes: Type.Integer({ minimum: 0 }),
  /** the settings the pod runs with and the schema version it knows; no secret is among them */
  settings: Type.Record(Type.String(), Type.Unknown()),
  settingsVersion: Type.Integer({ minimum: 1 }),
  unknownSettings: Type.Array(Type.String()),
  /** what is wrong with how the pod is set up, for people; absent where nothing is */
  warnings: Type.Optional(Type.Array(Type.String())),
  configHash: Type.String(),
});
export type PodHealth = Static<typeof PodHealth>;

/** Answer of `DELETE /v1/page/{id}`: `over` = the reading is known to be over; `unknown` = never heard of that page. */
export const PageCancelled = Type.Object({
  state: Type.Union([Type.Literal('over'), Type.Literal('unknown')]),
});
export type PageCancelled = Static<typeof PageCancelled>;
