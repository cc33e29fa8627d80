import { type Static, Type } from 'typebox';
import { PROFILE_NAMES } from '../engine/profile.ts';

/** Version of the settings schema below; a pod reports the version it knows. */
export const POD_SETTINGS_VERSION = 3;

/** What every variable that tells a pod something starts with. */
export const POD_ENV_PREFIX = 'PAGEFLEET_POD_';

/** Where a pod serves that was told no port and has no folder to write one into: in a container. */
export const POD_PORT = 8_000;

/**
 * All a pod is told, by environment variables `PAGEFLEET_POD_<NAME>`, encoded and decoded through this one schema.
 * The non-secret part (`PodMark`) is what a listing of the account shows, so that a lost journal can be rebuilt from it.
 */
export const PodMark = Type.Object({
  clusterId: Type.String({ minLength: 1 }),
  podKey: Type.String({
    pattern: '^[0-9a-f]{32}$',
    description: 'random, never changes; the token is derived from it',
  }),
  keyId: Type.String({ minLength: 1, description: 'which secret the token was derived with' }),
  pool: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1, description: '<cluster>-<pool>-<uuid8>, unique for every attempt' }),
  width: Type.Integer({ minimum: 1, maximum: 1_024 }),
  configHash: Type.String({ minLength: 1 }),
  spot: Type.Boolean(),
});
export type PodMark = Static<typeof PodMark>;

/** A setting of some engines is told to their pods only, and comes back as its default in all others. */
const ONLY = {
  tesseract: { 'x-engines': ['tesseract'] },
  sleep: { 'x-engines': ['sleep'] },
  model: { 'x-engines': PROFILE_NAMES },
} as const;

export const PodSettings = Type.Object({
  ...PodMark.properties,
  /** known only once the pod exists: where it cannot be sent, the provider tells the pod itself */
  podId: Type.String({ minLength: 1, 'x-told-by-provider': 'RUNPOD_POD_ID' }),
  token: Type.String({ minLength: 32 }),
  /**
   * 0 is not sent: any free port, which the gateway writes into `portFile` (local); without that file `POD_PORT`
   */
  port: Type.Integer({ minimum: 0, maximum: 65_535, 'x-default-not-sent': true }),
  /** empty, and then not sent: the pod has no folder */
  portFile: Type.String({ 'x-default-not-sent': true }),
  host: Type.String(),
  /** `tls-psk`: TLS with a key made from the token, and nothing else; see `pod-transport` in the runtime */
  transport: Type.Union([Type.Literal('plain'), Type.Literal('tls-psk')]),
  deadManMs: Type.Integer({ minimum: 1_000 }),
  /** how an abandoned pod ends: `exit` ends the process, `runpod` removes the pod at its provider first */
  removal: Type.Union([Type.Literal('exit'), Type.Literal('runpod')]),
  /** REST v2 and GraphQL of the provider, for `removal`; empty, and then not sent: the public ones */
  apiUrl: Type.String({ 'x-default-not-sent': true }),
  graphqlUrl: Type.String({ 'x-default-not-sent': true }),
  engine: Type.Union([
    Type.Literal('tesseract'),
    Type.Literal('sleep'),
    Type.Literal('surya'),
    Type.Literal('chandra'),
    Type.Literal('olmocr'),
  ]),
  languages: Type.Array(Type.String(), { default: ['eng'], ...ONLY.tesseract }),
  dpi: Type.Integer({ minimum: 72, maximum: 600, default: 200, ...ONLY.tesseract }),
  tesseract: Type.Union([Type.Literal('auto'), Type.Literal('cli'), Type.Literal('js')], {
    default: 'auto',
    ...ONLY.tesseract,
  }),
  pageTimeoutMs: Type.Integer({ minimum: 1, default: 120_000, ...ONLY.tesseract }),
  sleepMs: Type.Integer({ minimum: 0, default: 1_000, ...ONLY.sleep }),
  /** program and arguments of the model server, to which host and port are added */
  serverCommand: Type.Array(Type.String(), { default: [], ...ONLY.model }),
  /** `NAME=value`, for the model server alone */
  serverEnv: Type.Array(Type.String(), { default: [], ...ONLY.model }),
  serverStartMs: Type.Integer({ minimum: 1_000, default: 1_200_000, ...ONLY.model }),
  readDpi: Type.Integer({ minimum: 0, maximum: 600, default: 0, 'x-default-not-sent': true, ...ONLY.model }),
  readMaxTokens: Type.Integer({ minimum: 0, default: 0, 'x-default-not-sent': true, ...ONLY.model }),
  readContinuations: Type.Integer({ minimum: 0, default: 0, 'x-default-not-sent': true, ...ONLY.model }),
  readRetries: Type.Integer({ minimum: -1, default: -1, ...ONLY.model }),
  readTimeoutMs: Type.Integer({ minimum: 1, default: 600_000, ...ONLY.model }),
  loopAbort: Type.Boolean({ default: true, ...ONLY.model }),
  loopFirstLook: Type.Integer({ minimum: 1, default: 2_000, ...ONLY.model }),
  loopStep: Type.Integer({ minimum: 1, default: 500, ...ONLY.model }),
  loopHits: Type.Integer({ minimum: 1, default: 2, ...ONLY.model }),
  /** folder in the pod; empty, and then not sent: the prompts that come with the engine */
  prompts: Type.String({ default: '', 'x-default-not-sent': true, ...ONLY.model }),
  accentRepair: Type.Boolean({ default: true, ...ONLY.model }),
  tokenTrace: Type.Boolean({ default: false, ...ONLY.model }),
  maxPixels: Type.Integer({ minimum: 1 }),
  maxPageBytes: Type.Integer({ minimum: 1 }),
  stallMs: Type.Integer({ minimum: 1 }),
  fatalStallMs: Type.Integer({ minimum: 1 }),
  logLevel: Type.String(),
});
export type PodSettings = Static<typeof PodSettings>;
