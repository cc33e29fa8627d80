import { createRules, type Rules } from './choose-rule.ts';
import { Engine } from './engine.ts';
import type { CardSpeed } from './load-model.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { ServeArguments } from './parse-arguments.ts';
import { createPictures, type Pictures } from './pictures.ts';
import { openRecords, type Records, type RequestRecord } from './records.ts';
import { type ReplyShape, shapeOf } from './reply-shape.ts';
import type { Script } from './script.ts';
import type { ReadScript } from './script-file.ts';

/** Fast, so that tests need not wait: a short reply takes some tens of milliseconds. Real figures are a script's. */
const SPEED: CardSpeed = { prefillTokensPerS: 1_000_000, tokensPerS: 4_000, loadedTokensPerS: 200_000 };

/** What all requests share. */
export interface Service {
  readonly arguments: ServeArguments;
  readonly shape: ReplyShape;
  /** names that are served, adapters included */
  readonly names: ReadonlySet<string>;
  readonly engine: Engine;
  readonly rules: Rules;
  readonly pictures: Pictures;
  readonly metrics: Metrics;
  readonly records: Records;
  /** Looks at the script's files; what changed counts from now on. */
  script(): ReadScript;
  /** replies that are under way; each ends at once when it is called */
  readonly underWay: Set<() => void>;
  /** Books a request that is over. */
  over(record: RequestRecord): void;
  readonly counts: { requests: number; wastedTokens: number };
  /** Ends the process once what was written has left it. */
  die(): void;
}

export interface ServiceOptions {
  readonly arguments: ServeArguments;
  readonly recordFolder: string | null;
  readonly readScript: () => ReadScript;
  readonly die: () => void;
}

export function createService(options: ServiceOptions): Service {
  const { recordFolder, readScript, die } = options;
  const asked = options.arguments;
  const names = new Set([...asked.servedNames, ...asked.loras.map(({ name }) => name)]);
  const { script } = readScript();
  const engine = new Engine(limitsOf(asked, script), speedOf(script));
  const metrics = createMetrics(asked.servedNames[0] ?? asked.model);
  const records = openRecords(recordFolder);
  const counts = { requests: 0, wastedTokens: 0 };
  return {
    arguments: asked,
    shape: shapeOf([...asked.servedNames, asked.model]),
    names,
    engine,
    rules: createRules(),
    pictures: createPictures(),
    metrics,
    records,
    underWay: new Set(),
    counts,
    die,
    script() {
      const read = readScript();
      engine.batch.limits = limitsOf(asked, read.script);
      engine.batch.speed = speedOf(read.script);
      return read;
    },
    over(record) {
      counts.requests += 1;
      counts.wastedTokens += record.wastedTokens;
      metrics.ended(record.end);
      records.request(record);
    },
  };
}

/** Without a script the cache holds as many sequences as may run, however long they are. */
function limitsOf({ maxSequences, maxModelLen, maxBatchedTokens }: ServeArguments, { kvTokens }: Script) {
  return { maxSequences, maxBatchedTokens, kvTokens: kvTokens ?? maxSequences * maxModelLen };
}

function speedOf(script: Script): CardSpeed {
  return {
    prefillTokensPerS: script.prefillTokensPerS ?? SPEED.prefillTokensPerS,
    tokensPerS: script.tokensPerS ?? SPEED.tokensPerS,
    loadedTokensPerS: script.loadedTokensPerS ?? SPEED.loadedTokensPerS,
  };
}
