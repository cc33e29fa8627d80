import { open } from 'node:fs';
import { promisify } from 'node:util';
import { openPodLog } from './pod-log.ts';

export interface EngineLog {
  write(chunk: string): void;
  flush(): Promise<void>;
}

/** vLLM says little once it serves; what it says while it starts is wanted when it fails. */
const MAX_BYTES = 5_000_000;

// A plain descriptor: a file handle closes itself when nobody holds it any more.
const openFile = promisify(open);

/** What the model server of a pod prints, in a bounded file; `file` null: nowhere but in the message of a failed start. */
export async function openEngineLog(file: string | null): Promise<EngineLog> {
  if (file === null) return { write: () => undefined, flush: async () => undefined };
  return await openPodLog({ fd: await openFile(file, 'a', 0o600), path: file, maxBytes: MAX_BYTES });
}
