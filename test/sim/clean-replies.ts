import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpusMissing, corpusPath } from '../corpus.ts';

/** What engines write of pages that repeat themselves by right, made from a seed. */
export interface CleanReply {
  readonly kind: string;
  readonly text: string;
}

type Chance = () => number;

const KINDS: Readonly<Record<string, (chance: Chance) => string>> = {
  'long table': (chance) =>
    table(rows(chance, 120), (n) => [`${n}`, money(chance), money(chance), 'EUR', 'paid']),
  'table of zeros with a date in each row': (chance) =>
    table(rows(chance, 90), (n) => [`${1 + (n % 28)}.${1 + (n % 12)}.1987`, '0.00', '0.00', '0.00', '0.00']),
  'table of nothing but zeros': (chance) => table(rows(chance, 60), () => ['0.00', '0.00', '0.00']),
  'sheet to sign in': (chance) =>
    lines(rows(chance, 40), () => `Name ${'_'.repeat(40)} Signature ${'_'.repeat(30)}`),
  'table to sign in': (chance) => table(rows(chance, 50), () => ['Signature', '', '', '']),
  'time sheet': (chance) =>
    table(rows(chance, 60), (n) => [`Day ${n}`, '08:00', '16:30', '8.00', '', '', 'J. Smith']),
  'table with empty rows': (chance) =>
    table(rows(chance, 60), (n) => (n % 9 === 0 ? [`Item ${n}`, '1'] : ['', ''])),
  'pipe table': (chance) =>
    lines(rows(chance, 100), (n) => `| ${n} | ${Math.floor(chance() * 900)} | n/a | n/a | n/a |`),
  'form with boxes': (chance) =>
    lines(
      rows(chance, 70),
      (n) => `Question ${n}: Do you agree? ☐ strongly ☐ rather ☐ rather not ☐ not at all`,
    ),
  'form with blanks': (chance) =>
    lines(
      rows(chance, 80),
      (n) => `${pick(['Name', 'Street', 'Town', 'Date', 'Signature'], n)}: ${'_'.repeat(60)}`,
    ),
  contents: (chance) =>
    lines(
      rows(chance, 90),
      (n) => `${words(chance, 4)} ${'. '.repeat(20 + Math.floor(chance() * 40))}${n * 3}`,
    ),
  'contents with dots': (chance) =>
    lines(
      rows(chance, 90),
      (n) => `${n}.${n % 7} ${words(chance, 3)}${'.'.repeat(30 + Math.floor(chance() * 60))}${n}`,
    ),
  index: (chance) => lines(rows(chance, 160), (n) => `${words(chance, 1)}, ${n}, ${n + 2}, ${n + 9}`),
  bibliography: (chance) =>
    lines(
      rows(chance, 40),
      (n) => `[${n}] J. Smith, ${words(chance, 6)}, J. Appl. Sci. ${n}, pp. ${n}-${n + 9}, 2004.`,
    ),
  listing: (chance) =>
    lines(rows(chance, 90), (n) => `    case ${n}: return table[${Math.floor(chance() * 99)}];`),
  prose: (chance) => lines(rows(chance, 40), () => `${words(chance, 18)}.`),
};

export const CLEAN_KINDS: readonly string[] = [...Object.keys(KINDS), ...(corpusMissing ? [] : ['corpus'])];

/** One page of a kind, in the shape of one engine or the other. */
export function cleanReply(kind: string, chance: Chance): CleanReply {
  const text = kind === 'corpus' ? corpusText(chance) : (KINDS[kind]?.(chance) ?? '');
  const before = `<p>${words(chance, 60 + Math.floor(chance() * 300))}</p>`;
  const html = chance() < 0.7;
  const body = `${before}\n${text}\n<p>${words(chance, 20)}</p>`;
  return { kind, text: html ? `<div data-label="Text" data-bbox="0 0 1000 1000">${body}</div>` : body };
}

function corpusText(chance: Chance): string {
  const folder = corpusPath('pages');
  const names = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  return readFileSync(join(folder, pick(names, Math.floor(chance() * names.length))), 'utf8');
}

function table(count: number, cells: (row: number) => readonly string[]): string {
  const row = (n: number): string =>
    `<tr>${cells(n)
      .map((cell) => `<td>${cell}</td>`)
      .join('')}</tr>`;
  return `<table>${Array.from({ length: count }, (_, n) => row(n + 1)).join('\n')}</table>`;
}

function lines(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => line(n + 1)).join('\n');
}

const rows = (chance: Chance, most: number): number => Math.ceil(most * (0.4 + 0.6 * chance()));
const money = (chance: Chance): string => (chance() * 9_999).toFixed(2);
const SYLLABLES = 'ba co di fu ga he ji ko lu ma ne pi qua ro su ti va we xi yo zen the of and'.split(' ');
const words = (chance: Chance, count: number): string =>
  Array.from({ length: count }, () =>
    Array.from({ length: 1 + Math.floor(chance() * 3) }, () =>
      pick(SYLLABLES, Math.floor(chance() * SYLLABLES.length)),
    ).join(''),
  ).join(' ');

function pick(from: readonly string[], at: number): string {
  return from[at % from.length] ?? '';
}
