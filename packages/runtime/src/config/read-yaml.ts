import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLError, type YAMLWarning } from 'yaml';
import type { ConfigIssue } from './config-issue.ts';

export interface YamlText {
  readonly value: unknown;
  readonly issues: readonly ConfigIssue[];
  /** line of a written path such as `pools[1].name`, or of the nearest parent that is written */
  lineOf(path: string): number | null;
}

/** Reads YAML 1.2. Duplicate keys are errors: the one that loses would be ignored without a word. */
export function readYaml(text: string, name: string): YamlText {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    uniqueKeys: true,
    prettyErrors: false,
    version: '1.2',
  });
  const issues = [...document.errors, ...document.warnings].map((error) => ({
    path: name,
    ...explain(error, text),
    from: `${name} line ${lineCounter.linePos(error.pos[0]).line}`,
  }));

  function lineOf(path: string): number | null {
    let node: unknown = document.contents;
    let offset: number | undefined;
    for (const part of splitPath(path)) {
      if (isMap(node)) {
        const pair = node.items.find((item) => isScalar(item.key) && item.key.value === part);
        if (!pair || !isScalar(pair.key)) break;
        offset = pair.key.range?.[0] ?? offset;
        node = pair.value;
      } else if (isSeq(node)) {
        node = node.items[Number(part)];
        offset = (node as { range?: [number, number, number] } | undefined)?.range?.[0] ?? offset;
      } else break;
    }
    return offset === undefined ? null : lineCounter.linePos(offset).line;
  }

  if (issues.length > 0) return { value: null, issues, lineOf };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), issues, lineOf };
  } catch (error) {
    // An alias without its anchor, or so many that they were made to fill the memory.
    const issue = {
      path: name,
      got: `an alias that cannot be followed: ${sentence(error as Error)}`,
      expected: 'aliases of anchors that stand above them',
      from: name,
    };
    return { value: null, issues: [issue], lineOf };
  }
}

/** The parser's own words say what was found; they never say what is expected. */
function explain(error: YAMLError | YAMLWarning, text: string): { got: string; expected: string } {
  switch (error.code) {
    case 'DUPLICATE_KEY':
      return { got: `a key twice: ${keyAt(text, error.pos[0])}`, expected: 'each key once' };
    case 'MULTIPLE_DOCS':
      return { got: 'a second document after ---', expected: 'one document' };
    default:
      return { got: `text that is not YAML: ${sentence(error)}`, expected: 'YAML' };
  }
}

/** On one line, and as a part of ours. */
function sentence({ message }: Error): string {
  return message.replace(/\s+/g, ' ').replace(/\.$/, '');
}

function keyAt(text: string, offset: number): string {
  return /^[^\s:]*/.exec(text.slice(offset))?.[0] ?? '';
}

function splitPath(path: string): string[] {
  return path.split(/[.[\]]+/).filter((part) => part !== '');
}
