import { tmpdir } from 'node:os';
import {
  type ClusterFile,
  type Config,
  ERRORS,
  type ErrorBody,
  PagefleetError,
  toErrorBody,
} from '@pagefleet/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import { fillTemplate } from './fill-template.ts';
import { renderGeneration } from './render-generation.ts';
import { renderNginxMain } from './render-main.ts';
import { sizeNginx } from './size-nginx.ts';

/** The words around it put it into OpenAI’s shape on the paths of a chat. */
const ANSWER = /return (\d+) '(?:\$pagefleet_open)?(\{.*\})(?:\$pagefleet_close)?';/g;
const BOX = { cores: 4, descriptors: 1_000_000, somaxconn: 65_536 };

function configOf(env: NodeJS.ProcessEnv = {}): Config {
  return loadConfig({ env, cwd: tmpdir() }).config;
}

function clusterOf(env: NodeJS.ProcessEnv = {}): ClusterFile {
  const ports = { nats: 1, controller: 9_000, backup: 9_001, workers: [9_002, 9_003] };
  return { stateDir: '/state', config: configOf(env), ports } as unknown as ClusterFile;
}

describe('sizes of nginx (R-003, R-010)', () => {
  test('hold_every_page_in_flight_and_waiting_twice_and_the_control_calls', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 16_384 }),
        fc.integer({ min: 0, max: 65_536 }),
        (flight, queued) => {
          const env = {
            PAGEFLEET_LIMITS_MAX_IN_FLIGHT: `${flight}`,
            PAGEFLEET_LIMITS_MAX_QUEUED: `${queued}`,
          };
          const sizes = sizeNginx(configOf(env), BOX);
          const pages = flight + (queued || flight);
          expect(sizes.workerConnections).toBeGreaterThanOrEqual(2 * pages + 1_024);
          expect(sizes.descriptors).toBeGreaterThan(sizes.workerConnections);
          expect(sizes.backlog).toBe(Math.min(65_536, Math.max(511, pages)));
        },
      ),
      { numRuns: 30 },
    );
  });

  test('what_the_machine_does_not_allow_is_clamped_and_said', () => {
    const sizes = sizeNginx(configOf(), { cores: 1, descriptors: 1_024, somaxconn: 128 });
    expect(sizes.workerConnections).toBe(896);
    expect(sizes.descriptors).toBeLessThanOrEqual(1_024);
    expect(sizes.clamped.join()).toMatch(/open files.*somaxconn/);
  });

  test('a_worker_may_be_silent_longer_than_a_page_may_take (R-011)', () => {
    const config = configOf({ PAGEFLEET_LIMITS_PAGE_DEADLINE: '14m', PAGEFLEET_LIMITS_MAX_WAIT: '1h' });
    expect(sizeNginx(config, BOX).readTimeoutSeconds).toBeGreaterThan(14 * 60 + 3_600);
  });
});

describe('generated files', () => {
  test('the_balancing_method_stands_before_keepalive_and_the_backup_is_last', () => {
    const { 'upstream.conf': text } = renderGeneration(clusterOf(), [9_002, 9_003], 7);
    expect(text.indexOf('least_conn')).toBeLessThan(text.indexOf('keepalive '));
    expect(text).toMatch(
      /9002 max_fails=0;\s+server 127.0.0.1:9003 max_fails=0;\s+server 127.0.0.1:9001 max_fails=0 backup;/,
    );
    expect(text).toContain('default 7;');
  });

  test('without_workers_the_backup_is_the_ordinary_server', () => {
    const { 'upstream.conf': text } = renderGeneration(clusterOf(), [], 1);
    expect(text).toContain('server 127.0.0.1:9001 max_fails=0;');
    expect(text).not.toContain(' backup');
  });

  test('the_main_file_includes_the_generation_in_force_by_its_link_and_leaves_nothing_open', () => {
    const text = renderNginxMain(clusterOf({ PAGEFLEET_LISTEN_HOST: '::1' }), BOX);
    expect(text).toContain('include /state/nginx/current/upstream.conf;');
    expect(text).toContain('listen [::1]:8080');
    expect(text).not.toMatch(/\{\{|\}\}/);
  });

  test('every_error_nginx_makes_itself_is_one_of_the_catalogue_with_its_status_and_shape', () => {
    const answers = [...renderNginxMain(clusterOf(), BOX).matchAll(ANSWER)];
    expect(answers.length).toBeGreaterThan(8);
    for (const [, status, text = ''] of answers) {
      const body = JSON.parse(text) as ErrorBody;
      expect(ERRORS[body.code]?.httpStatus, text).toBe(Number(status));
      expect(body).toEqual(toErrorBody(new PagefleetError(body.code, body.message), body.request_id));
    }
  });

  test('a_template_with_a_name_nobody_knows_or_a_value_with_a_line_break_is_a_fault', () => {
    expect(() => fillTemplate('{{a}} {{b}}', { a: 1 })).toThrow(/no value for \{\{b\}\}/);
    expect(() => fillTemplate('{{a}}', { a: 'x\ny' })).toThrow(/line break/);
    expect(fillTemplate('{{a}}-{{a}}', { a: '$&' })).toBe('$&-$&');
  });
});
