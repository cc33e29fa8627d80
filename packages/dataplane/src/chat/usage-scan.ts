export interface Usage {
  readonly prompt: number;
  readonly completion: number;
}

/** What is learnt from an answer while it passes by, event stream or plain JSON. It never holds more than one line of it. */
export interface UsageScan {
  add(chunk: Uint8Array): void;
  /** The answer is over: its last line counts although nothing ends it. */
  end(): void;
  /** of the last line that says how many tokens there were; null = none did */
  readonly usage: Usage | null;
  /** the mark by which an event stream says that it is whole */
  readonly isDone: boolean;
  /** the model server told an error of its own inside the stream */
  readonly hasError: boolean;
}

/** Of a longer line only the end is kept: that is where a buffered answer says its usage. */
const MAX_LINE_CHARS = 64 * 1024;
const NEWLINE = '\n';
/** vLLM’s details are objects inside of it. Inside a text the quotes would be escaped. */
const USAGE = /"usage"\s*:\s*(\{(?:[^{}]|\{[^{}]*\})*\})/g;

export function createUsageScan(): UsageScan {
  let line = '';
  let usage: Usage | null = null;
  let isDone = false;
  let hasError = false;

  function look(): void {
    if (/^data:\s*\[DONE\]\s*$/.test(line)) isDone = true;
    else if (/^data:\s*\{"error"\s*:/.test(line)) hasError = true;
    else if (line.includes('"usage"')) usage = usageOf(line) ?? usage;
    line = '';
  }

  return {
    add(chunk) {
      // Bytes, not characters: all that is looked for is ASCII, and a character may be cut between two chunks.
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
      let from = 0;
      for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, from)) {
        line = (line + text.slice(from, end)).slice(-MAX_LINE_CHARS);
        look();
        from = end + 1;
      }
      line = (line + text.slice(from)).slice(-MAX_LINE_CHARS);
    },
    end: look,
    get usage() {
      return usage;
    },
    get isDone() {
      return isDone;
    },
    get hasError() {
      return hasError;
    },
  };
}

function usageOf(line: string): Usage | null {
  const found = [...line.matchAll(USAGE)].at(-1)?.[1];
  if (found === undefined) return null;
  try {
    const { prompt_tokens, completion_tokens } = JSON.parse(found) as Record<string, unknown>;
    return { prompt: countOf(prompt_tokens), completion: countOf(completion_tokens) };
  } catch {
    return null;
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
