import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PagefleetError, type Slice } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createLogger, type Logger } from './logger.ts';
import { redact } from './redact.ts';

// Other processes are started here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const TOKEN = '5e'.repeat(32);

function capture(): { logger: Logger; lines: () => string; last: () => Record<string, unknown> } {
  const written: string[] = [];
  const logger = createLogger({
    component: 'test',
    level: 'info',
    bindings: { worker: 3 },
    destination: { write: (line) => written.push(line) },
  });
  return { logger, lines: () => written.join(''), last: () => JSON.parse(written.at(-1) ?? '{}') };
}

const slice: Slice = {
  v: 1,
  bootId: 'b',
  epoch: 1,
  rev: 2,
  pods: [
    { id: 'p', pool: 'ocr', url: 'http://h:1', token: TOKEN, width: 1, mode: 'serve', answeredSuspect: 0 },
  ],
  pools: [],
  limits: { maxInFlight: 1, maxQueued: 1, maxMemoryBytes: 1, maxSpoolBytes: 1 },
};

describe('createLogger', () => {
  it('writes_one_line_of_json_with_event_component_and_bindings', () => {
    const { logger, last } = capture();
    logger.info({ pod: 'p1', widthPages: 4 }, 'pod_serving');
    expect(last()).toMatchObject({
      level: 'info',
      component: 'test',
      worker: 3,
      pod: 'p1',
      widthPages: 4,
      event: 'pod_serving',
    });
    expect(last().time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('a_logged_slice_shows_no_token', () => {
    const { logger, lines } = capture();
    logger.info({ slice }, 'slice_received');
    logger.info(slice, 'slice_received');
    logger.info({ byWorker: new Map([['b', slice]]) }, 'slices');
    logger.child({ slice }).info('slice_again');
    expect(lines()).not.toContain(TOKEN);
    expect(lines()).toContain('http://h:1');
  });

  it('an_error_keeps_type_stack_and_code_and_shows_no_token', () => {
    const { logger, lines, last } = capture();
    const cause = Object.assign(new Error('socket'), { headers: { authorization: `Bearer ${TOKEN}` } });
    const error = new PagefleetError('pod_failed', `no answer to Bearer ${TOKEN}`, { cause });
    logger.error({ err: error }, 'page_failed');
    expect(last().err).toMatchObject({ type: 'PagefleetError', code: 'pod_failed' });
    expect((last().err as { stack: string }).stack).toContain('logger.test.ts');
    logger.error(error, 'page_failed');
    expect(lines()).not.toContain(TOKEN);
  });

  it('a_reader_that_goes_away_does_not_end_the_process', async () => {
    const script = `
      import { createLogger } from ${JSON.stringify(join(import.meta.dirname, 'logger.ts'))};
      const logger = createLogger({ component: 'x', level: 'info' });
      logger.info('first');
      process.stdin.once('data', () => {
        const timer = setInterval(() => logger.info('more'), 1);
        setTimeout(() => { clearInterval(timer); process.exit(7); }, 150);
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    child.stdin.write('go');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  it('the_last_lines_before_an_exit_are_written', async () => {
    const script = `
      import { createLogger } from ${JSON.stringify(join(import.meta.dirname, 'logger.ts'))};
      const logger = createLogger({ component: 'x', level: 'info' });
      for (let n = 1; n <= 500; n += 1) logger.info({ n }, 'line');
      process.exit(0);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    await once(child, 'close');
    expect(text.trim().split('\n')).toHaveLength(500);
  });
});

describe('redact', () => {
  const names = [
    'token',
    'authorization',
    'secret',
    'apiKey',
    'api_key',
    'X-Api-Key',
    'podToken',
    'pass',
    'Cookie',
  ];

  it('hides_secrets_at_any_depth_and_keeps_everything_else', () => {
    const leaf = fc.constantFrom(...names).map((name) => ({ [name]: TOKEN, kept: 'visible' }));
    const nested = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.record({ inner: tie('node') }),
        fc.tuple(tie('node'), fc.constant('visible')),
      ),
    })).node;
    fc.assert(
      fc.property(nested, (value) => {
        const text = JSON.stringify(redact(value));
        expect(text).not.toContain(TOKEN);
      }),
    );
  });

  it('leaves_names_that_only_resemble_secrets', () => {
    const harmless = { keyId: 'k1', maxTokens: 5, tokens: 3, passed: true, secretary: 'x', n: 0, none: null };
    expect(redact(harmless)).toEqual(harmless);
  });

  it('does_not_follow_circles_or_print_bytes', () => {
    const circle: Record<string, unknown> = { bytes: Buffer.alloc(9) };
    circle.self = circle;
    expect(JSON.stringify(redact(circle))).toContain('[9 bytes]');
    expect(JSON.stringify(redact(circle))).toContain('[too deep]');
  });
});
