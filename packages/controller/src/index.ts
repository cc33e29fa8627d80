export { askGeneration } from './nginx/ask-generation.ts';
export { applyGeneration, type GenerationOptions } from './nginx/generations.ts';
export { runNginx } from './nginx/run-nginx.ts';
