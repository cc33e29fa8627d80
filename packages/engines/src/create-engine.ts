import type { Engine, EngineSettings, ServerEngineHooks, ServerEngineSettings } from './port.ts';
import { createServerEngine } from './server/create-server-engine.ts';
import { createSleepEngine } from './sleep/sleep-engine.ts';
import { createTesseractEngine } from './tesseract/create-tesseract-engine.ts';

type OwnEngineSettings = Exclude<EngineSettings, ServerEngineSettings>;

/** Only an engine that is a server of its own has something to be told of. */
export function createEngine(settings: OwnEngineSettings): Engine;
export function createEngine(settings: EngineSettings, hooks: ServerEngineHooks): Engine;
export function createEngine(settings: EngineSettings, hooks?: ServerEngineHooks): Engine {
  switch (settings.kind) {
    case 'sleep':
      return createSleepEngine(settings);
    case 'tesseract':
      return createTesseractEngine(settings);
    case 'surya':
    case 'chandra':
    case 'olmocr':
      if (!hooks) throw new TypeError(`the engine ${settings.kind} needs its hooks`);
      return createServerEngine(settings, hooks);
  }
}
