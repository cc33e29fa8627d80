import {
  type Config,
  ENGINE_PROFILES,
  isProfileName,
  type PodSettings,
  type Pool,
} from '@pagefleet/contract';
import { launchCommand } from '@pagefleet/core';

type EngineOf<K extends keyof PodSettings> = Pick<PodSettings, K>;

/** What a pod is told of its engine. Settings of other engines stay with it, and are not sent. */
export function engineSettingsOf(pool: Pool, { limits }: Config, memoryGb: number | null) {
  return {
    engine: pool.engine,
    languages: [...pool.languages],
    dpi: pool.dpi,
    tesseract: pool.tesseract,
    pageTimeoutMs: pool.pageTimeoutMs,
    sleepMs: pool.sleepMs,
    maxPixels: limits.maxPixels,
    maxPageBytes: limits.maxBodyBytes,
    ...serverOf(pool, memoryGb),
    ...readingOf(pool),
  };
}

function serverOf(
  pool: Pool,
  memoryGb: number | null,
): EngineOf<'serverCommand' | 'serverEnv' | 'serverStartMs'> {
  const { engine, vllm } = pool;
  const launch = isProfileName(engine) ? launchCommand(ENGINE_PROFILES[engine], pool, memoryGb) : null;
  return {
    serverCommand: [...(launch?.command ?? [])],
    serverEnv: [...(launch?.env ?? [])],
    serverStartMs: vllm.startTimeoutMs,
  };
}

function readingOf({ reading }: Pool) {
  return {
    readDpi: reading.dpi,
    readMaxTokens: reading.maxTokens,
    readContinuations: reading.continuations,
    readRetries: reading.retries,
    readTimeoutMs: reading.requestTimeoutMs,
    loopAbort: reading.loopAbort,
    loopFirstLook: reading.loopFirstLook,
    loopStep: reading.loopStep,
    loopHits: reading.loopHits,
    prompts: reading.prompts,
    accentRepair: reading.accentRepair,
    tokenTrace: reading.tokenTrace,
  };
}
