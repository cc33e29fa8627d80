import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type KnownPage, parseKnownPages } from './known-pages.ts';
import { parseScript, type Script } from './script.ts';

export interface ReadScript {
  readonly script: Script;
  readonly pages: readonly KnownPage[];
}

/** Reads a script and its pages again when their files have changed. Throws for a file that is not what it should be. */
export function openScript(path: string | null): () => ReadScript {
  let read: ReadScript = { script: {}, pages: [] };
  let stamp = '';
  return () => {
    if (path === null) return read;
    const pagesOf = ({ pages }: Script) => (pages === undefined ? null : resolve(dirname(path), pages));
    const stampOf = (script: Script) => [path, pagesOf(script)].map(changedAt).join();
    if (stamp !== '' && stamp === stampOf(read.script)) return read;
    const script = parseScript(readFileSync(path, 'utf8'));
    const pagesPath = pagesOf(script);
    read = { script, pages: pagesPath === null ? [] : parseKnownPages(readFileSync(pagesPath, 'utf8')) };
    stamp = stampOf(script);
    return read;
  };
}

function changedAt(path: string | null): string {
  if (path === null) return '';
  const { mtimeNs, size } = statSync(path, { bigint: true });
  return `${mtimeNs}.${size}`;
}
