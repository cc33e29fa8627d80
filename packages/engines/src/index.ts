export { createEngine } from './create-engine.ts';
export {
  type DocumentLimits,
  type DocumentPage,
  type OpenedDocument,
  openDocument,
} from './document/open-document.ts';
export { hasHeldMuch } from './document/pdfium.ts';
export { sniffKind } from './document/sniff-kind.ts';
export type {
  Engine,
  EngineSettings,
  ModelAnswer,
  ModelRequest,
  PageInput,
  PageKind,
  ServerEngineHooks,
  ServerEngineSettings,
  SleepSettings,
  TesseractSettings,
} from './port.ts';
export { type DrawRoom, openDrawRoom } from './render/draw-room.ts';
export type { Drawing, DrawnPicture, PageToRead } from './vlm/drawing.ts';
export type { LoopThresholds } from './vlm/loop-watch.ts';
export {
  BrokenReply,
  type ModelServer,
  ReplyTimeout,
  ServerRefusal,
  type ServerRequest,
  type ServerResponse,
} from './vlm/model-server.ts';
export type { SizeLimits } from './vlm/picture-size.ts';
export { readPrompt } from './vlm/read-prompt.ts';
export {
  createVlmReader,
  type ReadingEvents,
  type ReadingSettings,
  type VlmReader,
} from './vlm/vlm-reader.ts';
