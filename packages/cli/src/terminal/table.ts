import { oneLine } from './one-line.ts';

/** The whole text is in `--json`. */
const MAX_CELL_CHARS = 200;

/** Columns as wide as their widest cell; an empty table is no text. */
export function formatTable(header: readonly string[], given: readonly (readonly string[])[]): string {
  if (given.length === 0) return '';
  const rows = given.map((row) => row.map((cell) => oneLine(cell, MAX_CELL_CHARS)));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
