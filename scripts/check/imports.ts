export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly line: number;
}

/** `import x from 'y'`, `export … from 'y'`, `import 'y'` and `import('y')`, as the formatter writes them. */
const STATEMENT =
  /^[ \t]*(import|export)\s+(type\s+)?(?:[\w*\s{},$]*?\s*from\s*)?'([^'\n]+)'|\bimport\(\s*'([^'\n]+)'/gm;

export function parseImports(text: string): Import[] {
  const found: Import[] = [];
  for (const match of text.matchAll(STATEMENT)) {
    const specifier = match[3] ?? match[4];
    if (specifier === undefined) continue;
    const inType = match[4] !== undefined && /(:|<|=|\|)\s*(typeof\s+)?$/.test(lineUpTo(text, match.index));
    found.push({
      specifier,
      typeOnly: match[2] !== undefined || inType,
      line: text.slice(0, match.index).split('\n').length,
    });
  }
  return found;
}

function lineUpTo(text: string, index: number): string {
  return text.slice(text.lastIndexOf('\n', index - 1) + 1, index);
}
