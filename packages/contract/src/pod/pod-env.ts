import { type Static, Type } from 'typebox';

/** Version of the settings schema below; a pod reports the version it knows. */
export const POD_SETTINGS_VERSION = 1;

/** What every variable that tells a pod something starts with. */
export const POD_ENV_PREFIX = 'PAGEFLEET_POD_';

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

export const PodSettings = Type.Object({
  ...PodMark.properties,
  podId: Type.String({ minLength: 1 }),
  token: Type.String({ minLength: 32 }),
  /** 0 = any free port (local), and then it is not sent; the gateway writes the port it got into `portFile` */
  port: Type.Integer({ minimum: 0, maximum: 65_535, 'x-zero-is-default': true }),
  portFile: Type.String(),
  host: Type.String(),
  deadManMs: Type.Integer({ minimum: 1_000 }),
  engine: Type.Union([Type.Literal('tesseract'), Type.Literal('sleep')]),
  languages: Type.Array(Type.String()),
  dpi: Type.Integer({ minimum: 72, maximum: 600 }),
  tesseract: Type.Union([Type.Literal('auto'), Type.Literal('cli'), Type.Literal('js')]),
  pageTimeoutMs: Type.Integer({ minimum: 1 }),
  sleepMs: Type.Integer({ minimum: 0 }),
  maxPixels: Type.Integer({ minimum: 1 }),
  maxPageBytes: Type.Integer({ minimum: 1 }),
  stallMs: Type.Integer({ minimum: 1 }),
  fatalStallMs: Type.Integer({ minimum: 1 }),
  logLevel: Type.String(),
});
export type PodSettings = Static<typeof PodSettings>;
