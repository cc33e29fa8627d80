import type { EngineProfile } from './profile.ts';

/** Figures as in olmOCR’s own pipeline (0.4.27). */
export const OLMOCR: EngineProfile = {
  name: 'olmocr',
  model: 'allenai/olmOCR-2-7B-1025-FP8',
  servedName: 'olmocr',
  launch: {
    dtype: 'auto',
    maxModelLen: 16_384,
    gpuMemoryUtilization: 0.9,
    maxBatchedTokens: null,
    args: ['--limit-mm-per-prompt', '{"video": 0}', '--no-enable-log-requests'],
    env: { OMP_NUM_THREADS: '1' },
  },
  picture: {
    dpi: null,
    longestSide: 1_288,
    maxArea: null,
    minShortSideOfPdf: null,
    minShortSideOfImage: null,
  },
  request: { pictureFirst: false, maxTokens: 8_000, temperature: 0.1, topP: null, logprobs: false },
  retry: { retries: 7, temperatures: [0.1, 0.2, 0.3, 0.5, 0.8, 0.9, 1], topP: null },
};
