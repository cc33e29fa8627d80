import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@pagefleet/client';
import type { ClusterFile } from '@pagefleet/contract';
import { repoRoot } from '@pagefleet/runtime';
import { endpointUrl } from '../cluster/endpoint.ts';
import { readOperatorToken } from '../cluster/prepare-cluster.ts';
import { readPagesInOrder } from '../ocr/pages-in-order.ts';

const SAMPLE = join('docs', 'sample', 'scan.pdf');

/** Posts the bundled scan to nginx, as every client does, and prints what came back. */
export async function readSample(
  cluster: ClusterFile,
  { say, signal }: { readonly say: (line: string) => void; readonly signal: AbortSignal },
): Promise<void> {
  const url = endpointUrl(cluster);
  const bytes = readFileSync(join(repoRoot(), SAMPLE));
  const client = createClient({ url, token: readOperatorToken(cluster) });
  const startedMs = performance.now();
  say(`reading the bundled sample ${SAMPLE} through nginx`);
  try {
    const lines = client.readDocument({
      body: () => bytes,
      contentLength: bytes.length,
      signal,
      onWait: (failure, waitMs) =>
        say(`${failure.message.replace(/\.$/, '')}; again in ${(waitMs / 1_000).toFixed(1)} s`),
    });
    let pages = 0;
    for await (const page of readPagesInOrder(lines)) {
      pages += 1;
      console.log(`──── page ${page.index + 1} ────`);
      console.log(page.error ? `not read: ${page.error.message}` : page.markdown);
    }
    say(`${pages} pages read in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
    console.log(
      `\nThe same by hand:\n  curl --data-binary @${SAMPLE} -H 'Accept: text/plain' ${url}/v1/ocr\n`,
    );
  } finally {
    await client.close();
  }
}
