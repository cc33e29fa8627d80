import { join } from 'node:path';
import { parseImports } from './imports.ts';
import { isTestFile, observeSourceFiles } from './source-files.ts';

/** What a pure decision may not touch: no I/O, clock, randomness, logger or promise. */
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\bDate\b/, 'the clock is an argument (nowMs)'],
  [/\bperformance\s*\./, 'the clock is an argument (nowMs)'],
  [/\bMath\.random\b/, 'randomness is an argument'],
  [/\bcrypto\b/, 'randomness is an argument'],
  [/\bconsole\s*\./, 'core does not log'],
  [/\b(async|await|Promise)\b/, 'core has no promises'],
  [/\b(process|globalThis|setTimeout|setInterval|fetch)\b\s*[.(]/, 'core has no I/O'],
];

export function checkCorePurity(root: string): string[] {
  const problems: string[] = [];
  for (const file of observeSourceFiles(join(root, 'packages/core/src'))) {
    if (isTestFile(file.path)) continue;
    const at = (line: number): string => `packages/core/src/${file.path}:${line}`;
    for (const item of parseImports(file.text)) {
      if (item.specifier.startsWith('node:')) problems.push(`${at(item.line)}: core imports nothing of Node`);
      if (item.specifier.startsWith('@pagefleet/') && !item.typeOnly) {
        problems.push(`${at(item.line)}: core imports ${item.specifier} as types only`);
      }
    }
    withoutComments(file.text)
      .split('\n')
      .forEach((text, index) => {
        for (const [pattern, reason] of FORBIDDEN) {
          if (pattern.test(text)) problems.push(`${at(index + 1)}: ${reason}`);
        }
      });
  }
  return problems;
}

/** Blanks comments and string literals but keeps the line numbers. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'/g, (part) =>
    part.replace(/[^\n]/g, ' '),
  );
}
