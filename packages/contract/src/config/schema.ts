import { type Static, Type } from 'typebox';
import { bytes, duration, type Resolved, section } from './kinds.ts';
import { PoolConfig } from './pool.ts';
import { MoneyConfig, RunpodConfig } from './runpod.ts';

/** Limits on the way of a page. All the others are computed from `max_in_flight`. */
const Limits = section(
  {
    max_in_flight: Type.Integer({
      minimum: 1,
      maximum: 16_384,
      default: 256,
      description: 'Pages in flight over all workers.',
      unit: 'pages',
    }),
    max_queued: Type.Integer({
      minimum: 0,
      maximum: 65_536,
      default: 0,
      description: 'Pages waiting over all workers; 0 follows max_in_flight.',
      unit: 'pages',
    }),
    max_inflight_per_pod: Type.Integer({
      minimum: 1,
      maximum: 1_024,
      default: 64,
      description: 'Upper bound of any pod’s width. There is no "unlimited".',
      unit: 'pages',
    }),
    max_body: bytes({
      default: '256MB',
      min: '1MB',
      max: '4GB',
      description: 'Largest request body.',
    }),
    memory: bytes({
      default: '512MB',
      min: '16MB',
      description: 'Bodies and pages held in memory over all workers; what is above goes to the spool.',
    }),
    spool: bytes({
      default: '8GB',
      min: '0',
      description: 'Bodies and pages held on disk over all workers; above it new documents are refused.',
    }),
    max_pages_per_document: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 5_000,
      description: 'A document with more pages is refused.',
      unit: 'pages',
    }),
    max_documents_per_batch: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 64,
      description: 'Documents in one batch request.',
      unit: 'documents',
    }),
    max_pixels: Type.Integer({
      minimum: 1_000_000,
      maximum: 400_000_000,
      default: 40_000_000,
      description: 'Pixels of one drawn page; larger pages are drawn smaller.',
      unit: 'pixels',
    }),
    page_attempts: Type.Integer({
      minimum: 1,
      maximum: 10,
      default: 3,
      description: 'Times a page is sent before it fails; full pods and our own shortages cost nothing.',
    }),
    page_deadline: duration({
      default: '10m',
      min: '1s',
      max: '14m',
      description:
        'A page that is not read by then fails; counted from its first dispatch. Below the slot age limit of 15 minutes.',
    }),
    max_wait: duration({
      default: '5m',
      min: '0',
      max: '1h',
      description: 'Longest time a caller may ask to be held instead of refused (X-Max-Wait-Ms).',
    }),
    connect_timeout: duration({
      default: '30s',
      min: '100ms',
      max: '2m',
      description: 'Longest wait for a connection to a pod.',
    }),
    upload_min_rate: bytes({
      default: '4KB',
      min: '0',
      description: 'Least upload speed per second, measured over 10 s.',
    }),
    upload_deadline: duration({
      default: '10m',
      min: '1s',
      max: '2h',
      description: 'Longest time one upload may take.',
    }),
    pdf_threads: Type.Integer({
      minimum: 1,
      maximum: 64,
      default: 2,
      description: 'Threads per worker that open and split documents.',
      unit: 'threads',
    }),
    response_padding_after: duration({
      default: '60s',
      min: '100ms',
      max: '4m',
      description:
        'A JSON answer slower than this sends its headers early and keeps the line alive with white space.',
    }),
  },
  { description: 'Bounds on pages, bytes and time.' },
);

/** The whole configuration, as a user writes it in `pagefleet.yaml`. The source of types, defaults, bounds, names and the reference page. */
export const ConfigSchema = Type.Object(
  {
    cluster: Type.String({
      pattern: '^[a-z][a-z0-9-]{0,30}$',
      default: 'pagefleet',
      description: 'Name of the cluster, for people: logs and pod names.',
    }),
    state_dir: Type.String({
      minLength: 1,
      default: '.pagefleet',
      description: 'Where everything that survives a restart is kept; relative to the configuration file.',
    }),
    secret_key_file: Type.String({
      default: '',
      description:
        'File with the key from which the pods’ tokens are made: 64 hex digits, readable by its owner only, one for each cluster; relative to the configuration file. It wins over the key kept in the state directory, and a cluster that lost its state finds its pods again by it. Empty: a key is made once and kept in the state directory.',
    }),
    listen: section(
      {
        host: Type.String({
          minLength: 1,
          default: '127.0.0.1',
          description: 'Address of the endpoint. Anything but loopback needs API keys.',
        }),
        port: Type.Integer({
          minimum: 1,
          maximum: 65_535,
          default: 8080,
          description: 'Port of the endpoint.',
        }),
      },
      { description: 'Where clients connect.' },
    ),
    workers: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 0, maximum: 64 })], {
      default: 'auto',
      description:
        'Forwarding processes; auto is the number of cores. 0 leaves forwarding to the controller’s child.',
    }),
    api_keys: Type.Array(
      Type.Object(
        {
          name: Type.String({
            minLength: 1,
            maxLength: 60,
            description: 'Who holds the key; pages are shared fairly between names.',
          }),
          sha256: Type.String({
            pattern: '^[0-9a-f]{64}$',
            description: 'SHA-256 of the key in hex: the file holds no secret.',
            'x-secret': true,
          }),
          role: Type.Union([Type.Literal('client'), Type.Literal('operator')], {
            default: 'client',
            description: 'What the key may do.',
          }),
        },
        { additionalProperties: false },
      ),
      {
        default: [],
        description: 'Bearer keys. Without any, the endpoint listens on loopback only.',
      },
    ),
    document_hosts: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'Hosts from which `document_url` may be fetched over https. Empty: none.',
    }),
    limits: Limits,
    pools: Type.Array(PoolConfig, {
      minItems: 1,
      maxItems: 32,
      default: [{ name: 'ocr', min_pods: 1, max_pods: 2 }],
      description: 'The pods of one model with one configuration each.',
    }),
    money: MoneyConfig,
    runpod: RunpodConfig,
    control: section(
      {
        probe_interval: duration({
          default: '45s',
          min: '100ms',
          max: '5m',
          description:
            'Pause between probes of an unreachable pod; three failed ones end it. Serving pods are checked in two thirds of it, at most every 30 s.',
        }),
        probe_timeout: duration({
          default: '3s',
          min: '50ms',
          max: '30s',
          description:
            'A probe that takes longer has failed. The scheduled ones that may end a pod get five times as long, a booting pod 15 s.',
        }),
        trial_delay: duration({
          default: '5s',
          min: '50ms',
          max: '5m',
          description: 'First pause before a refusing pod gets one trial page; doubles to 60 times as much.',
        }),
        adoption_interval: duration({
          default: '60s',
          min: '500ms',
          max: '60s',
          description:
            'Pause between listings of the account, and between looks for pods of ours to adopt; listings come sooner while a pod boots, ends or is set aside.',
        }),
        ramp_pods: Type.Integer({
          minimum: 1,
          maximum: 128,
          default: 8,
          description: 'Pods that may boot at the same time.',
          unit: 'pods',
        }),
      },
      { description: 'How pods are watched.' },
    ),
    log_level: Type.Union(
      [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')],
      { default: 'info', description: 'Least level that is logged.' },
    ),
    watchdog: section(
      {
        stall: duration({
          default: '3s',
          min: '100ms',
          max: '10m',
          description: 'Silence of an event loop after which its stack is logged (R-019).',
        }),
        fatal: duration({
          default: '60s',
          min: '1s',
          max: '1h',
          description: 'Silence after which the process ends itself.',
        }),
      },
      { description: 'The watch over each event loop.' },
    ),
  },
  { additionalProperties: false },
);

export type WrittenConfig = Static<typeof ConfigSchema>;
/** What the code gets: every value present, converted and frozen. `workers: 'auto'` is resolved by the loader. */
export type Config = Omit<Resolved<WrittenConfig>, 'workers'> & { readonly workers: number };
export type Pool = Config['pools'][number];
