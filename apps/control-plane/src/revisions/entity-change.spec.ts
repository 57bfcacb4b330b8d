import { Digest, EMPTY_DIGEST, type Ipv4Network, toRow } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { digestAfter, type EntityChange, operationsOf } from './entity-change.js';

const network = (address: number, profileId = 1): Ipv4Network => ({
  address,
  prefixLength: 32,
  profileId,
});
const change = (before: Ipv4Network | null, after: Ipv4Network | null): EntityChange => ({
  kind: 'ipv4Network',
  before,
  after,
});
const digestOf = (...networks: Ipv4Network[]) => {
  const digest = Digest.parse(EMPTY_DIGEST);
  for (const one of networks) digest.add('ipv4Network', toRow('ipv4Network', one));
  return digest.toString();
};

describe('operationsOf', () => {
  it('puts new and changed entities', () => {
    expect(operationsOf([change(null, network(1)), change(network(2), network(2, 9))])).toEqual([
      { type: 'put', kind: 'ipv4Network', entity: network(1) },
      { type: 'put', kind: 'ipv4Network', entity: network(2, 9) },
    ]);
  });

  it('deletes removed entities', () => {
    expect(operationsOf([change(network(1), null)])).toEqual([
      { type: 'delete', kind: 'ipv4Network', key: network(1) },
    ]);
  });

  it('deletes first, so that entities can exchange their keys', () => {
    const ring = [change(network(1, 5), network(2, 5)), change(network(2, 6), network(1, 6))];
    expect(operationsOf(ring).map(({ type }) => type)).toEqual(['delete', 'delete', 'put', 'put']);
  });
});

describe('digestAfter', () => {
  it('is the digest of the entities after the changes', () => {
    const before = digestOf(network(1), network(2), network(3));
    const changes = [
      change(network(1), null),
      change(network(2), network(2, 9)),
      change(network(3), network(4)),
      change(null, network(5)),
    ];
    expect(digestAfter(before, changes)).toBe(digestOf(network(2, 9), network(4), network(5)));
  });
});
