import { repairAccents } from '../vlm/repair-accents.ts';
import { parseHtmlPage } from './html-page.ts';

/** Surya 2 writes its boxes on a grid of 1000 (contract 3.1). */
const GRID = 1_000;

export const parseSurya = parseHtmlPage({ grid: GRID });
export const parseSuryaWithAccents = parseHtmlPage({ grid: GRID, repair: repairAccents });
