import { makeProof } from '@pagefleet/runtime';
import { describe, expect, it } from 'vitest';
import { type Answer, ask, openWithoutBody, post, startPod, TOKEN, until } from './gateway-kit.ts';

describe('the pod around its pages', () => {
  it('a_page_waits_for_an_engine_that_starts', async () => {
    const started = await startPod({ width: 2 });
    started.engine.state = 'starting';
    const patient = post(started, 'patient');
    await until(() => started.pod.gate.running() === 1);
    expect((await ask(started, 'GET', '/healthz')).body.engine).toBe('starting');
    expect(started.events('page_started')).toHaveLength(0);
    started.engine.state = 'ready';
    started.engine.up.resolve();
    await until(() => started.readings.length === 1);
    started.readings[0]?.finish();
    expect((await patient.answer).status).toBe(200);
  });

  it('a_dead_engine_refuses_at_once_and_health_says_dead', async () => {
    const started = await startPod();
    started.engine.state = 'dead';
    const { request, answer } = openWithoutBody(started, 'a');
    expect(await answer).toMatchObject({ status: 503, body: { code: 'engine_not_ready' } });
    request.destroy();
    expect((await ask(started, 'GET', '/health')).body.engine).toBe('dead');
    expect(started.events('page_started')).toHaveLength(0);
  });

  it('health_says_why_an_engine_cannot_start (R-041)', async () => {
    const started = await startPod();
    expect((await ask(started, 'GET', '/health')).body).not.toHaveProperty('engineFault');
    Object.assign(started.engine, { state: 'dead', fault: 'language xyz is not installed' });
    const { body } = await ask(started, 'GET', '/health');
    expect(body).toMatchObject({ engine: 'dead', engineFault: 'language xyz is not installed' });
  });

  it('a_pod_asked_to_shut_down_takes_no_more_pages', async () => {
    const started = await startPod();
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await ask(started, 'POST', '/v1/shutdown', headers)).toMatchObject({ status: 202 });
    expect(await ask(started, 'POST', '/v1/shutdown', headers)).toMatchObject({ status: 202 });
    expect(started.shutdowns()).toBe(1);
    expect(await post(started, 'a').answer).toMatchObject({ status: 503, body: { code: 'stopping' } });
  });

  it('health_tells_the_settings_the_pod_runs_with_and_no_secret (R-045)', async () => {
    const started = await startPod({ width: 3 });
    const { body } = await ask(started, 'GET', '/healthz');
    expect(body).toMatchObject({
      v: 1,
      width: 3,
      engineName: 'by-hand',
      unknownSettings: ['PAGEFLEET_POD_NEW'],
    });
    expect(body.settings).toMatchObject({ width: 3, sleepMs: 0 });
    expect(JSON.stringify(body)).not.toContain(TOKEN);
  });

  it('a_pod_proves_itself_and_hears_only_an_owner_that_proves_itself', async () => {
    const started = await startPod();
    const heard: string[] = [];
    Object.assign(started.pod.owner, { hearAgain: () => heard.push('heard') });
    const probe = (headers: Record<string, string>): Promise<Answer> =>
      ask(started, 'GET', '/healthz', headers);
    const nonce = { 'x-pagefleet-nonce': 'n-1' };
    const proof = (side: 'pod' | 'owner', token = TOKEN): string => makeProof(token, side, 'n-1');

    expect((await probe(nonce)).headers['x-pagefleet-pod-proof']).toBe(proof('pod'));
    expect((await probe({})).headers['x-pagefleet-pod-proof']).toBeUndefined();
    await probe({ ...nonce, 'x-pagefleet-owner-proof': proof('pod') });
    await probe({ ...nonce, 'x-pagefleet-owner-proof': proof('owner', 'e'.repeat(64)) });
    await probe({ 'x-pagefleet-owner-proof': proof('owner') });
    expect(heard).toHaveLength(0);
    await probe({ ...nonce, 'x-pagefleet-owner-proof': proof('owner') });
    await probe({ authorization: `Bearer ${TOKEN}` });
    expect(heard).toHaveLength(2);
  });
});
