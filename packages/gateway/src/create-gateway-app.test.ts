import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  ask,
  inside,
  open,
  openWithoutBody,
  PNG,
  pageHeaders,
  post,
  startPod,
  TOKEN,
  until,
} from './gateway-kit.ts';

describe('a page in a pod', () => {
  it('a_page_is_read_whatever_its_content_type_says', async () => {
    const started = await startPod();
    for (const type of ['nonsense', 'application/json', 'application/pdf']) {
      const { answer } = post(started, `page-${type.length}`, { 'content-type': type });
      await until(() => started.readings.length === 1);
      expect(started.readings[0]?.page.kind).toBe('png');
      started.readings.pop()?.finish();
      expect(await answer).toMatchObject({ status: 200, body: { text: 'read' } });
    }
    expect(started.pod.pagesDone).toBe(3);
  });

  it('every_start_of_a_reading_is_one_line_with_its_page', async () => {
    const started = await startPod();
    const { answer } = post(started, 'page-1', { 'x-request-id': 'request-1' });
    await until(() => started.readings.length === 1);
    started.readings[0]?.finish();
    await answer;
    const ids = { pageId: 'page-1', requestId: 'request-1' };
    expect(started.events('page_started')).toMatchObject([ids]);
    expect(started.events('page_finished')).toMatchObject([{ ...ids, outcome: 'ok' }]);
  });

  it.each(['finish', 'die'] as const)(
    'its_answer_tells_what_it_has_cost_a_model_server: %s (R-071)',
    async (end) => {
      const started = await startPod();
      const { request, answer } = post(started, 'page-1', {
        'x-page-deadline-ms': end === 'die' ? '150' : '60000',
      });
      await until(() => started.readings.length === 1);
      const { events } = started.readings[0]?.page ?? {};
      for (let n = 0; n < 3; n += 1) events?.asked();
      events?.rejected('looped', 2_000);
      if (end === 'finish') started.readings[0]?.finish();
      const { status, headers } = await answer;
      expect(status).toBe(end === 'finish' ? 200 : 504);
      expect(headers['x-page-readings']).toBe('asked=3, looped=2000');
      request.destroy();
    },
  );

  it('a_stranger_is_turned_away_and_reads_nothing', async () => {
    const started = await startPod();
    for (const authorization of ['', 'Bearer', `Bearer ${TOKEN}x`, `bearer ${TOKEN.slice(1)}`]) {
      const { answer } = post(started, 'a', { authorization });
      expect(await answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    }
    expect(await ask(started, 'DELETE', '/v1/page/a')).toMatchObject({ status: 401 });
    expect(await ask(started, 'POST', '/v1/shutdown')).toMatchObject({ status: 401 });
    expect(started.readings).toHaveLength(0);
    expect(started.shutdowns()).toBe(0);
  });

  it('another_owner_is_turned_away_while_the_first_is_heard', async () => {
    const started = await startPod();
    const { answer } = post(started, 'a', { 'x-owner': 'theirs' });
    expect(await answer).toMatchObject({ status: 409, body: { code: 'wrong_owner' } });
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-owner': 'theirs' };
    expect(await ask(started, 'DELETE', '/v1/page/a', headers)).toMatchObject({ status: 409 });
  });

  it('the_page_above_twice_the_width_is_refused_before_its_body_is_read', async () => {
    const started = await startPod();
    const first = post(started, 'first');
    await until(() => started.readings.length === 1);
    const second = post(started, 'second');
    await until(() => started.pod.gate.waiting() === 1);
    const third = openWithoutBody(started, 'third');
    const refused = await third.answer;
    expect(refused).toMatchObject({ status: 429, body: { code: 'pod_full' } });
    expect(refused.headers['retry-after']).toBe('1');
    third.request.destroy();

    expect(started.readings).toHaveLength(1);
    started.readings[0]?.finish();
    await first.answer;
    await until(() => started.readings.length === 2);
    started.readings[1]?.finish();
    expect(await second.answer).toMatchObject({ status: 200 });
    expect(inside(started)).toEqual([0, 0]);
  });

  it('a_refused_page_may_come_again', async () => {
    const started = await startPod();
    post(started, 'a');
    post(started, 'b');
    await until(() => started.pod.gate.waiting() === 1 && started.readings.length === 1);
    expect((await post(started, 'c').answer).status).toBe(429);
    started.readings[0]?.finish();
    await until(() => started.readings.length === 2);
    started.readings[1]?.finish();
    await until(() => started.pod.gate.running() === 0);
    const again = post(started, 'c');
    await until(() => started.readings.length === 3);
    started.readings[2]?.finish();
    expect((await again.answer).status).toBe(200);
  });

  it('the_same_page_is_not_read_twice_at_once', async () => {
    const started = await startPod({ width: 4 });
    const first = post(started, 'a');
    await until(() => started.readings.length === 1);
    expect(await post(started, 'a').answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(started.readings).toHaveLength(1);
    started.readings[0]?.finish();
    expect((await first.answer).status).toBe(200);
    expect(inside(started)).toEqual([0, 0]);
  });

  it('a_page_above_the_limit_is_refused_by_its_length_or_by_its_bytes', async () => {
    const started = await startPod();
    const told = openWithoutBody(started, 'told', '1001');
    expect(await told.answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    told.request.destroy();
    const chunked = post(started, 'chunked', { 'transfer-encoding': 'chunked' }, Buffer.alloc(200_000, PNG));
    expect(await chunked.answer).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(inside(started)).toEqual([0, 0]);
  });

  it('bytes_that_are_no_page_are_named', async () => {
    const started = await startPod();
    expect(await post(started, 'a', {}, Buffer.alloc(0)).answer).toMatchObject({
      body: { code: 'empty_body' },
    });
    const text = post(started, 'b', { 'content-type': 'image/png' }, Buffer.from('hello'));
    expect(await text.answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    const unnamed = post(started, '../c');
    expect(await unnamed.answer).toMatchObject({ status: 400, body: { param: 'x-page-id' } });
  });
});

describe('the end of a reading', () => {
  it('a_deadline_ends_the_reading_and_gives_the_slot_back', async () => {
    const started = await startPod();
    const { answer } = post(started, 'a', { 'x-page-deadline-ms': '30' });
    expect(await answer).toMatchObject({ status: 504, body: { code: 'page_deadline' } });
    expect(started.readings[0]?.page.signal.aborted).toBe(true);
    expect(inside(started)).toEqual([0, 0]);
    expect(started.events('page_finished')).toMatchObject([{ outcome: 'page_deadline' }]);
  });

  it('a_deadline_also_ends_an_upload_that_does_not_come_and_the_wait_for_a_slot', async () => {
    const started = await startPod();
    post(started, 'runs');
    await until(() => started.readings.length === 1);
    const upload = open(started, {
      method: 'POST',
      path: '/v1/page',
      headers: pageHeaders('slow', { 'x-page-deadline-ms': '30', 'content-length': '12' }),
    });
    upload.request.write(PNG.subarray(0, 3));
    expect(await upload.answer).toMatchObject({ status: 504 });
    upload.request.destroy();
    const waiting = post(started, 'waits', { 'x-page-deadline-ms': '30' });
    expect(await waiting.answer).toMatchObject({ status: 504 });
    expect(started.readings).toHaveLength(1);
    expect(inside(started)).toEqual([1, 0]);
    expect(started.events('page_not_read')).toHaveLength(2);
  });

  it('a_sender_that_hangs_up_ends_the_reading_and_frees_the_slot', async () => {
    const started = await startPod();
    const { request } = post(started, 'a');
    await until(() => started.readings.length === 1);
    request.destroy();
    await until(() => started.pod.gate.running() === 0);
    expect(started.readings[0]?.page.signal.reason).toMatchObject({ code: 'client_gone' });
  });

  it('a_sender_that_hangs_up_in_its_upload_leaves_nothing_behind', async () => {
    const started = await startPod();
    const upload = open(started, {
      method: 'POST',
      path: '/v1/page',
      headers: pageHeaders('a', { 'content-length': '12' }),
    });
    upload.request.write(PNG.subarray(0, 3));
    await until(() => started.pod.gate.waiting() === 1);
    upload.request.destroy();
    await until(() => started.pod.gate.waiting() === 0);
    expect(started.readings).toHaveLength(0);
  });

  it('a_delete_answers_over_only_when_the_reading_is_over', async () => {
    const started = await startPod();
    started.engine.endsAtOnce = false;
    const { answer } = post(started, 'a');
    await until(() => started.readings.length === 1);
    let answered = false;
    const deleted = ask(started, 'DELETE', '/v1/page/a', pageHeaders('-')).finally(() => {
      answered = true;
    });
    await until(() => started.readings[0]?.page.signal.aborted === true);
    await sleep(20);
    expect(answered).toBe(false);
    expect(inside(started)).toEqual([1, 0]);
    started.readings[0]?.die();
    expect(await deleted).toMatchObject({ status: 200, body: { state: 'over' } });
    expect(await answer).toMatchObject({ status: 499 });
    expect(await post(started, 'a').answer).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  it('a_delete_that_comes_before_its_page_makes_the_page_fail', async () => {
    const started = await startPod();
    expect(await ask(started, 'DELETE', '/v1/page/a', pageHeaders('-'))).toMatchObject({
      body: { state: 'unknown' },
    });
    expect(await post(started, 'a').answer).toMatchObject({ status: 409 });
    expect(started.readings).toHaveLength(0);
    expect(await ask(started, 'DELETE', '/v1/page/%2e%2e', pageHeaders('-'))).not.toMatchObject({
      status: 500,
    });
  });
});
