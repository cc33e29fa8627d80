export { createEngine } from './create-engine.ts';
export {
  type DocumentLimits,
  type DocumentPage,
  type OpenedDocument,
  openDocument,
} from './document/open-document.ts';
export { sniffKind } from './document/sniff-kind.ts';
export type {
  Engine,
  EngineSettings,
  PageInput,
  PageKind,
  SleepSettings,
  TesseractSettings,
} from './port.ts';
