import { parseHtmlPage } from './html-page.ts';

/** Chandra writes its boxes on a grid of 1024 (contract 3.2). */
export const parseChandra = parseHtmlPage({ grid: 1_024 });
