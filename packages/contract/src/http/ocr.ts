import { type Static, Type } from 'typebox';
import type { BlockKind } from '../pod/gateway-api.ts';

/**
 * Mistral's OCR request, as its official client sends it. Fields we do not act on are accepted when they ask for nothing
 * (`include_blocks`, annotation formats left null); an unknown field is an error that names it.
 */
const Nullable = <T extends ReturnType<typeof Type.String>>(schema: T) => Type.Union([schema, Type.Null()]);

export const OcrDocument = Type.Union([
  Type.Object(
    {
      type: Type.Literal('document_url'),
      document_url: Type.String({ minLength: 1 }),
      document_name: Type.Optional(Nullable(Type.String())),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('image_url'),
      image_url: Type.Union([
        Type.String({ minLength: 1 }),
        Type.Object(
          { url: Type.String({ minLength: 1 }), detail: Type.Optional(Nullable(Type.String())) },
          { additionalProperties: false },
        ),
      ]),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { type: Type.Literal('file'), file_id: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
]);
export type OcrDocument = Static<typeof OcrDocument>;

export const OcrRequest = Type.Object(
  {
    model: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    document: OcrDocument,
    /** 0-based: a list, or text such as `0-5` or `0,2-4` */
    pages: Type.Optional(Type.Union([Type.Array(Type.Integer({ minimum: 0 })), Type.String(), Type.Null()])),
    include_image_base64: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    image_limit: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    image_min_size: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    bbox_annotation_format: Type.Optional(Type.Unknown()),
    document_annotation_format: Type.Optional(Type.Unknown()),
    document_annotation_prompt: Type.Optional(Type.Unknown()),
    table_format: Type.Optional(Type.Union([Type.Literal('markdown'), Type.Literal('html'), Type.Null()])),
    extract_header: Type.Optional(Type.Boolean()),
    extract_footer: Type.Optional(Type.Boolean()),
    include_blocks: Type.Optional(Type.Boolean()),
    confidence_scores_granularity: Type.Optional(
      Type.Union([Type.Literal('word'), Type.Literal('page'), Type.Literal('block'), Type.Null()]),
    ),
    /** ours: languages of the CPU engine, and `require: "fleet"` */
    languages: Type.Optional(Type.Array(Type.String(), { maxItems: 8 })),
    require: Type.Optional(Type.Union([Type.Literal('fleet'), Type.Null()])),
  },
  { additionalProperties: false },
);
export type OcrRequest = Static<typeof OcrRequest>;

/** One page of an answer. A page that failed has empty `markdown`, null `dimensions` and `error`. */
export interface OcrPage {
  /** 0-based position in the document */
  index: number;
  markdown: string;
  images: never[];
  dimensions: { dpi: number; height: number; width: number } | null;
  blocks?: OcrBlock[];
  confidence_scores?: {
    average_page_confidence_score: number;
    minimum_page_confidence_score: number;
    word_confidence_scores?: { text: string; confidence: number; start_index: number }[];
  };
  /** ours: the engine that read the page (`sleep` is a simulation), and why a page failed */
  engine?: string;
  rotation?: number;
  /** ours: tokens of the reply with the logarithm of their probability (`reading.token_trace`) */
  trace?: { token: string; logprob: number }[];
  error?: { code: string; message: string };
}

export interface OcrBlock {
  type: BlockKind;
  content: string;
  top_left_x: number;
  top_left_y: number;
  bottom_right_x: number;
  bottom_right_y: number;
}

export interface OcrResponse {
  pages: OcrPage[];
  model: string;
  document_annotation: null;
  usage_info: { pages_processed: number; doc_size_bytes: number };
  request_id: string;
  /** set when pages failed, or when the document failed after the headers were sent */
  error?: { code: string; message: string };
}

/** Lines of `Accept: application/x-ndjson`: pages as they finish, then one summary. `document` is set in a batch. */
export type OcrLine =
  /** `of`: pages asked for in this document, so that progress can be shown */
  | ({ type: 'page'; document?: string; of?: number } & OcrPage)
  | {
      type: 'document';
      document?: string;
      pages: number;
      failed: number;
      error?: { code: string; message: string };
    }
  /** `failed` counts pages, `documents_failed` documents that could not be read at all */
  | {
      type: 'done';
      documents: number;
      documents_failed: number;
      pages: number;
      failed: number;
      request_id: string;
    };

/** Response headers of admission, sent with every 429 and with every answer of `/v1/ocr`. */
export const WIDTH_HEADERS = {
  width: 'X-OCR-Page-Width',
  queueLimit: 'X-OCR-Queue-Limit',
  inFlight: 'X-OCR-Pages-In-Flight',
  queued: 'X-OCR-Pages-Queued',
} as const;

/** Request headers of ours. */
export const OCR_REQUEST_HEADERS = {
  /** milliseconds the caller is willing to be held instead of refused */
  maxWait: 'x-max-wait-ms',
  requestId: 'x-request-id',
} as const;
