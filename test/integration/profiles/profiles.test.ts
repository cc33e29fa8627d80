import { readFileSync } from 'node:fs';
import { ENGINE_PROFILES, PROFILE_NAMES, type ProfileName } from '@pagefleet/contract';
import { describePage, type KnownPage } from '@pagefleet/sim/vllm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { measureAccuracy } from '../../accuracy.ts';
import { corpusMissing, corpusPath } from '../../corpus.ts';
import {
  ACCURACY_PAGES,
  type DescribedPage,
  describeCorpusPages,
  knownPagesOf,
  truthOf,
} from './accuracy-pages.ts';
import { makePatternPage } from './pattern-page.ts';
import { PLACEMENTS, type Placement, type ReadingPath, startReadingPath } from './reading-paths.ts';
import {
  isRecording,
  type Recording,
  readRecording,
  toAnswer,
  toRecorded,
  writeRecording,
} from './recording.ts';
import { rulesOf, SITUATIONS } from './situations.ts';

/** Words; what comes back went through HTML or Markdown, which may join or split one of a hundred. */
const WER_AT_MOST = 0.01;
/** Hook: three profiles are read one after the other, each with two pods of its own. */
const START_MS = 120_000;

interface Page {
  readonly bytes: Buffer;
  readonly known: KnownPage;
}

const pages = new Map<string, Page>();
let ofCorpus: readonly DescribedPage[] = [];
beforeAll(async () => {
  if (corpusMissing === null) ofCorpus = await describeCorpusPages();
  for (const { name, form } of SITUATIONS) {
    const { page, upright } = await makePatternPage(name, form);
    const text = `The page of ${name}.`;
    pages.set(name, { bytes: page, known: await describePage({ name, picture: upright, text }) });
  }
});

interface Run {
  readonly path: ReadingPath;
  readonly recordings: ReadonlyMap<string, Recording>;
}

describe.each(PROFILE_NAMES)('%s, in its pod and on the worker', (profile) => {
  const ends: (() => Promise<void>)[] = [];
  const runs = new Map<Placement, Run>();
  beforeAll(async () => {
    await Promise.all(
      PLACEMENTS.map(async (placement) => runs.set(placement, await record(placement, profile, ends))),
    );
  }, START_MS);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const runOf = (placement: Placement): Run => {
    const run = runs.get(placement);
    if (run === undefined) throw new Error(`nothing was read by the ${placement}`);
    return run;
  };
  const recordingOf = (placement: Placement, name: string): Recording => {
    const recording = runOf(placement).recordings.get(name);
    if (recording === undefined) throw new Error(`${name} was not read by the ${placement}`);
    return recording;
  };

  test.each(SITUATIONS.map(({ name }) => name))(
    '%s: the requests and what becomes of the replies are as recorded (R-070, R-072)',
    (name) => {
      if (isRecording)
        writeRecording(profile, name, {
          pod: recordingOf('pod', name),
          worker: recordingOf('worker', name),
        });
      for (const placement of PLACEMENTS)
        expect(recordingOf(placement, name), `by the ${placement}`).toEqual(
          readRecording(profile, name, placement),
        );
    },
  );

  test('a page is tried as often as its engine says and not once more (R-070, R-072)', () => {
    const tries = 1 + ENGINE_PROFILES[profile].retry.retries;
    for (const placement of PLACEMENTS)
      for (const name of ['loops_in_every_try', 'never_a_page'])
        expect(recordingOf(placement, name).requests).toHaveLength(tries);
  });

  test.skipIf(corpusMissing !== null)(
    'the text of known pages comes back as it is, for their pictures are as the engine wants them (R-070)',
    async () => {
      const turns = profile === 'olmocr';
      for (const placement of PLACEMENTS) {
        const { path } = runOf(placement);
        const read = ACCURACY_PAGES.filter(({ turn }) => turns || turn === 0).map(async (page) => {
          const { status, body } = await path.read(readFileSync(corpusPath(...page.file)));
          const [found] = body.pages as { markdown: string; rotation: number }[];
          const { wer } = measureAccuracy(truthOf(page), found?.markdown ?? '');
          const name = `${page.file.join('/')} by the ${placement}`;
          expect([name, status, found?.rotation]).toEqual([name, 200, page.turn]);
          expect(wer, name).toBeLessThanOrEqual(WER_AT_MOST);
        });
        await Promise.all(read);
      }
    },
  );
});

/** Reads the page of every situation, all of them at once. */
async function record(
  placement: Placement,
  profile: ProfileName,
  ends: (() => Promise<void>)[],
): Promise<Run> {
  const path = await startReadingPath(placement, {
    profile,
    pages: [...[...pages.values()].map(({ known }) => known), ...knownPagesOf(profile, ofCorpus)],
    rules: SITUATIONS.flatMap((situation) => rulesOf(situation, profile)),
    reading: { continuations: 2 },
    onEnd: (end) => void ends.push(end),
  });
  const answers = new Map<string, object>();
  for (const isLast of [false, true]) {
    const now = SITUATIONS.filter((situation) => (situation.isLast === true) === isLast);
    await Promise.all(now.map(async ({ name }) => answers.set(name, await answerTo(path, name))));
  }
  await path.quiet();
  const requests = path.requests();
  const recordings = [...answers].map(([name, answer]) => {
    const own = requests.filter(({ page }) => page === name);
    return [name, { requests: toRecorded(own), answer }] as const;
  });
  return { path, recordings: new Map(recordings) };
}

async function answerTo(path: ReadingPath, name: string): Promise<object> {
  const page = pages.get(name);
  if (page === undefined) throw new Error(`no page ${name}`);
  return toAnswer(await path.read(page.bytes));
}
