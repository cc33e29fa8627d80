export { fillTemplate } from './fill-template.ts';
export { observeNginxBox } from './observe-box.ts';
export { type GenerationFiles, renderGeneration } from './render-generation.ts';
export { renderNginxMain } from './render-main.ts';
export { sizeNginx } from './size-nginx.ts';
