import type { EngineProfile } from './profile.ts';

/** Figures as in Chandra’s own client (0.1.9; Chandra 2 keeps its contract). */
export const CHANDRA: EngineProfile = {
  name: 'chandra',
  model: 'datalab-to/chandra-ocr-2',
  servedName: 'chandra',
  launch: {
    dtype: 'bfloat16',
    maxModelLen: 32_768,
    gpuMemoryUtilization: 0.9,
    maxBatchedTokens: { fixed: 65_536 },
    args: [],
    env: {},
  },
  picture: {
    dpi: 192,
    longestSide: null,
    maxArea: 3_072 * 2_048,
    minShortSideOfPdf: 1_024,
    minShortSideOfImage: 1_536,
  },
  request: { pictureFirst: true, maxTokens: 12_384, temperature: 0, topP: 0.1, logprobs: false },
  retry: { retries: 6, temperatures: [0.3], topP: 0.95 },
};
