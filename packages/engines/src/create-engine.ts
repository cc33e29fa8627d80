import type { Engine, EngineSettings } from './port.ts';
import { createSleepEngine } from './sleep/sleep-engine.ts';
import { createTesseractEngine } from './tesseract/create-tesseract-engine.ts';

export function createEngine(settings: EngineSettings): Engine {
  switch (settings.kind) {
    case 'sleep':
      return createSleepEngine(settings);
    case 'tesseract':
      return createTesseractEngine(settings);
  }
}
