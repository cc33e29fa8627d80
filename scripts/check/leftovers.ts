import { observeSourceFiles } from './source-files.ts';

/** Matches are written in pieces so that this file does not find itself. */
const LEFTOVERS: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(`\\.(${'skip'}|${'todo'}|${'only'})\\(`),
    'a skipped or lone test needs runIf/skipIf with a reason',
  ],
  [new RegExp(`@ts-(${'ignore'}|${'nocheck'}|${'expect-error'})`), 'types are not silenced'],
  [new RegExp(`\\bas ${'any'}\\b`), 'no any'],
  [new RegExp(`\\b(${'TO'}DO|${'FIX'}ME)\\b`), 'finish it or file it'],
];

/** Directives that hide a fault: skipped tests, silenced types, unfinished work. */
export function checkLeftovers(root: string): string[] {
  return observeSourceFiles(root).flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        LEFTOVERS.filter(([pattern]) => pattern.test(line)).map(
          ([, reason]) => `${path}:${index + 1}: ${reason}`,
        ),
      ),
  );
}
