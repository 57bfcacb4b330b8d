import { describe, expect, it } from 'vitest';
import { parseFollowerState, readResolverStatus } from './protocol.js';

const STATUS = {
  address: '192.0.2.1:53',
  version: '0.1.0 (89a4cd8)',
  catalogue: 17,
  threads: 3,
  answersPerSecond: 1850.5,
  cacheHitRatio: 0.9,
  blockedRatio: null,
  upstreams: [
    { address: '192.0.2.53:53', state: 'up' },
    { address: 'tls://192.0.2.54:853#dns.example.net', state: 'down' },
  ],
};
const long = 'a'.repeat(401);

describe('the status of a resolver', () => {
  it('is read as it was sent, without fields of other versions', () => {
    expect(readResolverStatus({ ...STATUS, later: 1 })).toEqual(STATUS);
    expect(readResolverStatus({ ...STATUS, catalogue: null })).toEqual({
      ...STATUS,
      catalogue: null,
    });
  });

  it.each([
    undefined,
    null,
    'live',
    [],
    { ...STATUS, address: '' },
    { ...STATUS, address: long },
    { ...STATUS, version: long },
    { ...STATUS, version: 1 },
    { ...STATUS, catalogue: -1 },
    { ...STATUS, catalogue: undefined },
    { ...STATUS, threads: 1.5 },
    { ...STATUS, threads: '3' },
    { ...STATUS, answersPerSecond: -1 },
    { ...STATUS, answersPerSecond: null },
    { ...STATUS, cacheHitRatio: 1.1 },
    { ...STATUS, blockedRatio: 'none' },
    { ...STATUS, upstreams: null },
    { ...STATUS, upstreams: [null] },
    { ...STATUS, upstreams: [{ address: '192.0.2.53:53', state: 'broken' }] },
    { ...STATUS, upstreams: [{ address: long, state: 'up' }] },
    { ...STATUS, upstreams: Array.from({ length: 17 }, () => STATUS.upstreams[0]) },
  ])('is ignored when it is not one, or too large: %#', (status) => {
    expect(readResolverStatus(status)).toBeUndefined();
  });

  it('that is not one does not keep its resolver from acknowledging', () => {
    const inForce = {
      lineage: '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01',
      revision: 5,
      digest: '0'.repeat(16),
    };
    const state = { id: 'a', kind: 'resolver', name: null, inForce, feedVersion: 1 };
    expect(parseFollowerState(JSON.stringify({ ...state, status: 7 }))).toEqual(state);
  });
});
