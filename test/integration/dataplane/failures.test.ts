import { setTimeout as sleep } from 'node:timers/promises';
import type { OcrResponse } from '@pagefleet/contract';
import { freePorts } from '@pagefleet/runtime';
import { describe, expect, test } from 'vitest';
import { makePdf } from './make-pdf.ts';
import { PNG } from './pictures.ts';
import { startRig } from './rig.ts';

const refused = (code: string, status: number) =>
  ({ kind: 'answer', status, body: { object: 'error', code, message: `the pod says ${code}` } }) as const;

/** A pod that cannot be asked is waited for as long as four probes and two listings take. */
const IMPATIENT = { PAGEFLEET_CONTROL_PROBE_INTERVAL: '100ms' };

describe('what becomes of a page that failed (DESIGN 7.6)', () => {
  test('a_pod_that_cannot_be_reached_is_suspected_and_the_page_goes_to_another', async () => {
    const [dead = 0] = await freePorts(1);
    const rig = await startRig();
    rig.grant([
      { id: 'dead', url: `http://127.0.0.1:${dead}` },
      { id: 'alive', url: rig.pods[0]?.url ?? '' },
    ]);
    for (let n = 0; n < 3; n += 1) expect((await rig.post(PNG)).status).toBe(200);
    const { pods } = rig.dataplane.report();
    expect(pods.dead?.suspect).toMatchObject({ n: 1, kind: 'unreachable' });
    expect(pods.alive?.suspect).toBeUndefined();
    await rig.expectAllGivenBack();
  });

  test('a_suspicion_stays_in_the_reports_until_a_slice_answers_it', async () => {
    const rig = await startRig({
      pods: [[refused('engine_not_ready', 503), { kind: 'read' }], [{ kind: 'read' }]],
    });
    let urgent = 0;
    rig.dataplane.onUrgent(() => {
      urgent += 1;
    });
    while (!rig.dataplane.report().pods.p0?.suspect) expect((await rig.post(PNG)).status).toBe(200);
    expect(urgent).toBeGreaterThan(0);
    rig.grant([{}, {}]);
    expect(rig.dataplane.report().pods.p0?.suspect).toMatchObject({
      n: 1,
      kind: 'refusing',
      code: 'engine_not_ready',
    });
    rig.grant([{ answeredSuspect: 1 }, {}]);
    expect(rig.dataplane.report().pods.p0?.suspect).toBeUndefined();
  });

  test('a_pod_that_refused_gets_a_trial_page_after_the_configured_delay (R-031)', async () => {
    const rig = await startRig({
      pods: [[refused('engine_not_ready', 503), { kind: 'read' }], [{ kind: 'read' }]],
      env: { PAGEFLEET_CONTROL_TRIAL_DELAY: '1s' },
    });
    const readings = () => rig.pods[0]?.pages.length ?? 0;
    while (readings() === 0) await rig.post(PNG);
    const refusedAtMs = performance.now();
    while (readings() === 1) expect((await rig.post(PNG)).status).toBe(200);
    const waitedMs = performance.now() - refusedAtMs;
    expect(waitedMs).toBeGreaterThan(900);
    expect(waitedMs).toBeLessThan(4_000);
  });

  test('the_same_page_refused_by_two_pods_is_parked_and_no_pod_suffers (R-021)', async () => {
    const rig = await startRig({
      pods: [[refused('engine_failed', 502)], [refused('engine_failed', 502)], [{ kind: 'read' }]],
    });
    rig.grant([{}, {}]);
    const answer = await rig.post(PNG);
    expect(answer.status).toBe(422);
    const body = await answer.json();
    expect(body).toMatchObject({ code: 'page_parked', detail: [{ type: 'page_parked' }] });
    const { pods } = rig.dataplane.report();
    expect([pods.p0?.suspect, pods.p1?.suspect]).toEqual([undefined, undefined]);
    await rig.expectAllGivenBack();
  });

  test('the_documents_own_fault_is_told_and_not_tried_again', async () => {
    const rig = await startRig({ pods: [[refused('page_unreadable', 422)], [{ kind: 'read' }]] });
    rig.grant([{}]);
    const answer = await rig.post(PNG);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      code: 'page_unreadable',
      message: 'the pod says page_unreadable',
    });
    expect(rig.pods[0]?.pages).toHaveLength(1);
    expect(rig.dataplane.report().pods.p0?.suspect).toBeUndefined();
  });

  test('a_page_cut_in_mid_reading_is_sent_again_only_when_that_reading_is_known_to_be_over (L14)', async () => {
    const rig = await startRig({ pods: [[{ kind: 'cut' }], [{ kind: 'read' }]] });
    rig.grant([{}]);
    const answering = rig.post(PNG);
    await expect.poll(() => rig.pods[0]?.deleted).toEqual(['boot-1-1']);
    rig.grant([{ mode: 'drain' }, {}]);
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(rig.pods[1]?.pages.map((page) => page.id)).toEqual(['boot-1-2']);
    await rig.expectAllGivenBack();
  });

  test('a_page_waits_for_another_pod_though_the_one_that_failed_it_is_idle_and_well_again', async () => {
    const rig = await startRig({
      pods: [
        [{ kind: 'cut' }, { kind: 'read' }],
        [{ kind: 'hang' }, { kind: 'read' }],
      ],
    });
    rig.grant([{ mode: 'drain' }, { width: 1 }]);
    const gone = new AbortController();
    const busy = fetch(`${rig.url}/v1/ocr`, { method: 'POST', body: PNG, signal: gone.signal }).catch(
      () => null,
    );
    await expect.poll(() => rig.pods[1]?.pages.length).toBe(1);
    rig.grant([{}, { width: 1 }]);
    const failedOnce = rig.post(PNG);
    await expect.poll(() => rig.pods[0]?.pages.length).toBe(1);
    await sleep(1_000);
    expect((await rig.post(PNG)).status).toBe(200);
    gone.abort();
    await busy;
    expect((await failedOnce).status).toBe(200);
    expect(rig.pods.map((pod) => pod.pages.map((page) => page.id))).toEqual([
      ['boot-2-1', 'boot-3-1'],
      ['boot-1-1', 'boot-2-2'],
    ]);
  });

  test('a_page_whose_reading_may_still_run_fails_retryably_and_is_never_sent_twice (L14)', async () => {
    const rig = await startRig({ pods: [[{ kind: 'cut' }], [{ kind: 'read' }]], env: IMPATIENT });
    const [first] = rig.pods;
    if (first) first.deleteAnswers = 'nothing';
    rig.grant([{}]);
    const answering = rig.post(PNG);
    await expect.poll(() => first?.deleted.length).toBeGreaterThan(0);
    rig.grant([{ mode: 'drain' }, {}]);
    const answer = await answering;
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'pod_failed' });
    expect(rig.pods[1]?.pages).toEqual([]);
    await rig.expectAllGivenBack();
  });

  test('a_page_of_a_pod_that_is_proven_gone_is_read_by_another_and_the_client_sees_no_error (L14, R-032)', async () => {
    const rig = await startRig({ pods: [[{ kind: 'cut' }], [{ kind: 'read' }]] });
    const [first] = rig.pods;
    if (first) first.deleteAnswers = 'nothing';
    rig.grant([{}]);
    const answering = rig.post(PNG);
    await expect.poll(() => first?.deleted.length).toBeGreaterThan(1);
    rig.grant([{ id: 'p1', token: 'token-1', url: rig.pods[1]?.url ?? '' }], { gone: ['p0'] });
    expect((await answering).status).toBe(200);
    expect(rig.pods[1]?.pages).toHaveLength(1);
    await rig.expectAllGivenBack();
  });

  test('a_pod_that_broke_off_and_proves_itself_takes_pages_again_though_nobody_answers (R-031)', async () => {
    const rig = await startRig({ pods: [[{ kind: 'cut' }, { kind: 'read' }]] });
    const answer = await rig.post(PNG);
    expect(answer.status).toBe(200);
    expect(rig.pods[0]?.pages.map((page) => page.id)).toEqual(['boot-1-1', 'boot-1-2']);
    expect(rig.dataplane.report().pods.p0?.suspect).toMatchObject({ n: 1, kind: 'unreachable' });
  });

  test('a_pod_that_answers_as_somebody_else_stays_out', async () => {
    const rig = await startRig({ pods: [[{ kind: 'cut' }, { kind: 'read' }]] });
    rig.grant([{ token: 'another' }]);
    const answering = rig.post(PNG);
    await expect.poll(() => rig.dataplane.report().pods.p0?.suspect?.kind).toBe('unreachable');
    await sleep(1_000);
    expect(rig.pods[0]?.pages).toHaveLength(1);
    rig.grant([{ answeredSuspect: 1 }]);
    expect((await answering).status).toBe(200);
  });

  test('a_language_the_engines_lack_is_the_requests_fault_and_sets_no_pod_aside', async () => {
    const body = {
      object: 'error',
      code: 'bad_request',
      message: 'language zzz is not installed',
      param: 'languages',
    };
    const rig = await startRig({ pods: [[{ kind: 'answer', status: 400, body }]] });
    const answer = await rig.post(PNG, {}, '/v1/ocr?languages=zzz');
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'bad_request',
      param: 'languages',
      message: body.message,
    });
    expect(rig.pods[0]?.pages).toHaveLength(1);
    expect(rig.dataplane.report().pods.p0?.suspect).toBeUndefined();
  });

  test('a_full_pod_costs_nothing_and_the_page_waits', async () => {
    const full = refused('pod_full', 429);
    const rig = await startRig({ pods: [[full, full, full, full, full, { kind: 'read' }]] });
    expect((await rig.post(PNG)).status).toBe(200);
    expect(rig.pods[0]?.pages).toHaveLength(6);
    expect(rig.dataplane.report().pods.p0?.suspect).toBeUndefined();
  });

  test('a_page_that_hangs_fails_at_its_deadline_and_is_ended_in_the_pod', async () => {
    const rig = await startRig({ pods: [[{ kind: 'hang' }]], env: { PAGEFLEET_LIMITS_PAGE_DEADLINE: '1s' } });
    const answer = await rig.post(PNG);
    expect(answer.status).toBe(504);
    expect(await answer.json()).toMatchObject({ code: 'page_deadline' });
    expect(rig.pods[0]?.deleted).toEqual(['boot-1-1']);
    expect(rig.dataplane.report().pods.p0?.suspect).toMatchObject({
      kind: 'unreachable',
      code: 'page_deadline',
    });
    await rig.expectAllGivenBack();
  });

  test('a_reading_that_comes_back_broken_is_a_refusal', async () => {
    const rig = await startRig({ pods: [[{ kind: 'garbage' }], [{ kind: 'read' }]] });
    for (let n = 0; n < 2; n += 1) expect((await rig.post(PNG)).status).toBe(200);
    expect(rig.dataplane.report().pods.p0?.suspect).toMatchObject({
      kind: 'refusing',
      code: 'engine_failed',
    });
  });

  test('some_pages_fail_and_the_others_come_back', async () => {
    const rig = await startRig({
      width: 1,
      pods: [[{ kind: 'read' }, refused('page_too_large', 422), { kind: 'read' }]],
    });
    const answer = await rig.post(makePdf({ pages: 3 }));
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as OcrResponse;
    expect(body.pages.map((page) => page.error?.code ?? null)).toEqual([null, 'page_too_large', null]);
    expect(body.error?.code).toBe('page_too_large');
  });

  test('no_answer_shows_a_pods_address_or_token (R-025)', async () => {
    const rig = await startRig({ pods: [[{ kind: 'cut' }]], env: IMPATIENT });
    const [pod] = rig.pods;
    if (pod) pod.deleteAnswers = 'nothing';
    const text = await (await rig.post(PNG)).text();
    expect(text).not.toContain(new URL(pod?.url ?? '').port);
    expect(text).not.toContain('token-0');
  });

  test('a_connection_that_is_not_made_in_time_is_bounded (R-011)', async () => {
    // 192.0.2.0/24 is reserved for documents: nobody answers there, or the way there is refused at once.
    const rig = await startRig({ env: { PAGEFLEET_LIMITS_CONNECT_TIMEOUT: '300ms' } });
    rig.grant([{ id: 'far', url: 'http://192.0.2.1:9' }, { url: rig.pods[0]?.url ?? '' }]);
    const started = Date.now();
    for (let n = 0; n < 2; n += 1) expect((await rig.post(PNG)).status).toBe(200);
    expect(Date.now() - started).toBeLessThan(10_000);
  });
});
