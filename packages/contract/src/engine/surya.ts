import type { EngineProfile } from './profile.ts';

/** Figures as in Surya 2’s own client (`surya/inference`, releases 0.20 to 0.23). */
export const SURYA: EngineProfile = {
  name: 'surya',
  model: 'datalab-to/surya-ocr-2',
  servedName: 'datalab-to/surya-ocr-2',
  launch: {
    dtype: 'bfloat16',
    maxModelLen: 18_000,
    gpuMemoryUtilization: 0.85,
    maxBatchedTokens: { per24Gb: 8_192 },
    args: [
      '--enable-prefix-caching',
      '--mm-processor-kwargs',
      '{"min_pixels": 3136, "max_pixels": 6291456}',
      '--speculative-config',
      '{"method": "mtp", "num_speculative_tokens": 2}',
    ],
    env: {},
  },
  picture: {
    dpi: 192,
    longestSide: null,
    maxArea: 6_291_456,
    minShortSideOfPdf: null,
    minShortSideOfImage: null,
  },
  request: { pictureFirst: true, maxTokens: 12_288, temperature: 0, topP: 0.1, logprobs: true },
  retry: { retries: 3, temperatures: [0.2, 0.4, 0.6, 0.8], topP: 0.95 },
};
