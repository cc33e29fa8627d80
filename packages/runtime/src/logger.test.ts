import { PagefleetError, type Slice } from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogger, type Logger } from './logger.ts';
import { redact } from './redact.ts';

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
