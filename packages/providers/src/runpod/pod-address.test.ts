import { describe, expect, it } from 'vitest';
import { type Addressed, podAddress } from './pod-address.ts';

const port = (ip: string | null, publicPort: number | null = 22_056, isIpPublic: boolean | null = null) => ({
  privatePort: 8_000,
  publicPort,
  ip,
  isIpPublic,
});
const address = (pod: Partial<Addressed>, loopbackIsPublic = false) =>
  podAddress({ id: 'k3v9', env: {}, exposed: ['8000/tcp'], mapped: [], ...pod }, { loopbackIsPublic });

describe('the address of a running pod', () => {
  it('is_the_public_pair_of_the_port_at_which_its_gateway_listens', () => {
    const others = [
      { ...port('100.65.21.7', 60_123, false), privatePort: 8_888 },
      { ...port('100.65.21.7', null), privatePort: 19_123 },
    ];
    expect(address({ mapped: [...others, port('194.68.245.18')] })).toBe('http://194.68.245.18:22056');
    expect(address({ mapped: others })).toBeNull();
    const env = { PAGEFLEET_POD_PORT: '8888', PAGEFLEET_POD_TRANSPORT: 'plain' };
    expect(address({ env, mapped: [{ ...port('194.68.245.18', 1), privatePort: 8_888 }] })).toBe(
      'http://194.68.245.18:1',
    );
  });

  it('says_by_which_transport_the_pod_was_told_to_speak', () => {
    const env = { PAGEFLEET_POD_TRANSPORT: 'tls-psk' };
    expect(address({ env, mapped: [port('194.68.245.18')] })).toBe('psk://194.68.245.18:22056');
    expect(address({ env, mapped: [port('2a01:4f8::1')] })).toBe('psk://[2a01:4f8::1]:22056');
  });

  it.each([
    '10.1.2.3',
    '172.20.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.1.1',
    '0.0.0.0',
    'fe80::1',
    '::1',
    'x',
  ])('is_never_%s_which_is_not_public', (ip) => {
    expect(address({ mapped: [port(ip)] })).toBeNull();
  });

  it('is_none_where_the_API_says_it_is_not_public_or_leaves_a_part_out', () => {
    expect(address({ mapped: [port('194.68.245.18', 22_056, false)] })).toBeNull();
    expect(address({ mapped: [port(null)] })).toBeNull();
    expect(address({ mapped: [port('194.68.245.18', null)] })).toBeNull();
  });

  it('may_be_on_this_machine_when_the_API_itself_is', () => {
    expect(address({ mapped: [port('127.0.0.1')] }, true)).toBe('http://127.0.0.1:22056');
    expect(address({ mapped: [port('10.0.0.1')] }, true)).toBeNull();
  });

  it('is_the_proxy_where_that_was_asked_for', () => {
    expect(address({ exposed: ['8000/http', '22/tcp'] })).toBe('https://k3v9-8000.proxy.runpod.net');
  });
});
