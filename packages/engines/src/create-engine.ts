import type { Engine, EngineSettings, ServerEngineHooks } from './port.ts';
import { createServerEngine } from './server/create-server-engine.ts';
import { createSleepEngine } from './sleep/sleep-engine.ts';
import { createTesseractEngine } from './tesseract/create-tesseract-engine.ts';

export function createEngine(settings: EngineSettings, hooks: ServerEngineHooks): Engine {
  switch (settings.kind) {
    case 'sleep':
      return createSleepEngine(settings);
    case 'tesseract':
      return createTesseractEngine(settings);
    case 'surya':
    case 'chandra':
    case 'olmocr':
      return createServerEngine(settings, hooks);
  }
}
