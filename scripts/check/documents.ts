import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '../../packages/contract/src/index.ts';
import { renderConfigReference } from '../../packages/runtime/src/index.ts';

/** Pages that are made from the code say what the code says. */
export function checkDocuments(root: string): string[] {
  const problems: string[] = [];
  if (readFileSync(join(root, 'docs/config.md'), 'utf8') !== renderConfigReference()) {
    problems.push('docs/config.md is not what the schema says: ./pagefleet config docs > docs/config.md');
  }
  const api = readFileSync(join(root, 'docs/http-api.md'), 'utf8');
  for (const [code, { httpStatus, retry, doc }] of Object.entries(ERRORS)) {
    const row = `| \`${code}\` | ${httpStatus} | ${retry} | ${doc} |`;
    if (!api.includes(row)) problems.push(`docs/http-api.md lacks the row: ${row}`);
  }
  return problems;
}
