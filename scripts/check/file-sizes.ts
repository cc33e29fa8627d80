import { isTestFile, observeSourceFiles } from './source-files.ts';

const MAX_SOURCE_LINES = 400;
const MAX_TEST_LINES = 600;
const MAX_SCRIPT_LINES = 100;

export function checkFileSizes(root: string): string[] {
  return observeSourceFiles(root).flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1;
    const limit = limitOf(path);
    return lines > limit ? [`${path}: ${lines} lines, at most ${limit}`] : [];
  });
}

function limitOf(path: string): number {
  if (isTestFile(path)) return MAX_TEST_LINES;
  return path.startsWith('scripts/') ? MAX_SCRIPT_LINES : MAX_SOURCE_LINES;
}
