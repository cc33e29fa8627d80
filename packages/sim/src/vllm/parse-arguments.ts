/** What the command line of `vllm serve` says, as far as the simulation heeds it. */
export interface ServeArguments {
  /** the positional argument: a name on the model hub or a folder */
  readonly model: string;
  readonly host: string;
  readonly port: number;
  /** what clients call the model; the first one stands in replies and metrics */
  readonly servedNames: readonly string[];
  /** adapters served beside the model */
  readonly loras: readonly { readonly name: string; readonly path: string }[];
  readonly maxSequences: number;
  /** tokens of a prompt and its reply together */
  readonly maxModelLen: number;
  /** tokens of one step over all sequences */
  readonly maxBatchedTokens: number;
  /** null: nobody is asked for a key */
  readonly apiKey: string | null;
}

/** vLLM's own default; it takes up to 1,024 on the largest cards. */
const MAX_SEQUENCES = 256;
/** vLLM reads it from the model's configuration, of which there is none here. */
const MAX_MODEL_LEN = 32_768;
/** What vLLM takes for a server on a card of 80 GB. */
const MAX_BATCHED_TOKENS = 8_192;
const PORT = 8_000;
const HIDDEN = new Set(['--api-key', '--hf-token']);

/**
 * Reads `serve MODEL [flags]`. A flag this simulation does not know is taken as it is, with every word up to the next flag.
 * Throws for a missing model and for a number that is none.
 */
export function parseArguments(argv: readonly string[], env: NodeJS.ProcessEnv = {}): ServeArguments {
  const words = argv[0] === 'serve' ? argv.slice(1) : [];
  if (argv[0] !== 'serve') throw new Error(`expected "serve MODEL [flags]", got "${argv[0] ?? ''}"`);
  const positional = words[0]?.startsWith('--') === false ? words[0] : undefined;
  const flags = readFlags(positional === undefined ? words : words.slice(1));
  const model = positional ?? flags.get('--model')?.[0];
  if (model === undefined) throw new Error('the model is missing: expected "serve MODEL [flags]"');
  const served = flags.get('--served-model-name') ?? [];
  return {
    model,
    host: flags.get('--host')?.[0] ?? '127.0.0.1',
    port: wholeNumber(flags, '--port', PORT),
    servedNames: served.length > 0 ? served : [model],
    loras: (flags.get('--lora-modules') ?? []).map(parseLora),
    maxSequences: wholeNumber(flags, '--max-num-seqs', MAX_SEQUENCES),
    maxModelLen: wholeNumber(flags, '--max-model-len', MAX_MODEL_LEN),
    maxBatchedTokens: wholeNumber(flags, '--max-num-batched-tokens', MAX_BATCHED_TOKENS),
    apiKey: flags.get('--api-key')?.[0] ?? env.VLLM_API_KEY ?? null,
  };
}

/** The same words without the secrets among them, for a record. */
export function withoutSecrets(argv: readonly string[]): string[] {
  return argv.map((word, at) => {
    const [flag = ''] = word.split('=', 1);
    if (HIDDEN.has(flag) && word.includes('=')) return `${flag}=***`;
    return HIDDEN.has(argv[at - 1] ?? '') ? '***' : word;
  });
}

function readFlags(words: readonly string[]): Map<string, string[]> {
  const flags = new Map<string, string[]>();
  let last: string[] = [];
  for (const word of words) {
    if (!word.startsWith('--')) {
      last.push(word);
      continue;
    }
    const at = word.indexOf('=');
    last = at < 0 ? [] : [word.slice(at + 1)];
    // A flag that is given twice counts as it stands last, as in Python's argparse; vLLM takes _ for -.
    flags.set((at < 0 ? word : word.slice(0, at)).replaceAll('_', '-'), last);
  }
  return flags;
}

function wholeNumber(flags: ReadonlyMap<string, readonly string[]>, flag: string, otherwise: number): number {
  const text = flags.get(flag)?.[0];
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw new Error(`${flag}: expected a whole number, got "${text}"`);
  return Number(text);
}

/** `name=path`, or the JSON form `{"name": …, "path": …}`. */
function parseLora(word: string): { name: string; path: string } {
  if (word.startsWith('{')) {
    const { name, path } = JSON.parse(word) as { name?: unknown; path?: unknown };
    if (typeof name === 'string' && typeof path === 'string') return { name, path };
  }
  const at = word.indexOf('=');
  if (at < 1) throw new Error(`--lora-modules: expected name=path, got "${word}"`);
  return { name: word.slice(0, at), path: word.slice(at + 1) };
}
