import type { Config } from '@pagefleet/contract';
import { createDocumentSplitter, type DocumentSplitter } from '../split/document-splitter.ts';
import { type BodyDecoder, createBodyDecoder } from './body-decoder.ts';
import { type BodyStore, createBodyStore } from './body-store.ts';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import { createDocumentFetcher, type DocumentFetcher } from './fetch-document.ts';

export interface ReadingOptions {
  readonly config: Config;
  readonly spoolDir: string;
  readonly bootId: string;
  readonly memoryBytes: number;
  readonly spoolBytes: number;
  readonly pdfThreads: number;
}

/** All that turns a request body into documents and documents into pages. */
export interface Reading {
  readonly budget: ByteBudget;
  readonly store: BodyStore;
  readonly decoder: BodyDecoder;
  readonly fetcher: DocumentFetcher;
  readonly splitter: DocumentSplitter;
  close(): Promise<void>;
}

export function createReading(options: ReadingOptions): Reading {
  const { config, spoolDir, bootId, memoryBytes, spoolBytes } = options;
  const budget = createByteBudget({ memory: memoryBytes, spool: spoolBytes });
  const store = createBodyStore({ budget, spoolDir, bootId });
  const decoder = createBodyDecoder();
  const fetcher = createDocumentFetcher({
    hosts: config.documentHosts,
    store,
    maxBytes: config.limits.maxBodyBytes,
    connectTimeoutMs: config.limits.connectTimeoutMs,
  });
  const splitter = createDocumentSplitter({ threads: options.pdfThreads, store });
  return {
    budget,
    store,
    decoder,
    fetcher,
    splitter,
    async close() {
      await Promise.all([decoder.close(), fetcher.close(), splitter.close()]);
    },
  };
}
