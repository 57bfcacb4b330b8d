import { Digest, EMPTY_DIGEST, type Ipv4Network, toRow } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { encodeEntityChanges, type EntityChange } from './change-record.js';

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

const operationsOf = (changes: readonly EntityChange[]) =>
  encodeEntityChanges(EMPTY_DIGEST, changes).operations;

describe('the operations of changes', () => {
  it('put new and changed entities', () => {
    expect(operationsOf([change(null, network(1)), change(network(2), network(2, 9))])).toEqual([
      ['put', 'ipv4Network', [1, 32, 1]],
      ['put', 'ipv4Network', [2, 32, 9]],
    ]);
  });

  it('delete removed entities', () => {
    expect(operationsOf([change(network(1), null)])).toEqual([['delete', 'ipv4Network', [1, 32]]]);
  });

  it('delete first, so that entities can exchange their keys', () => {
    const ring = [change(network(1, 5), network(2, 5)), change(network(2, 6), network(1, 6))];
    const types = operationsOf(ring).map(([type]) => type);
    expect(types).toEqual(['delete', 'delete', 'put', 'put']);
  });
});

describe('the digest after changes', () => {
  it('is the digest of the entities after them', () => {
    const before = digestOf(network(1), network(2), network(3));
    const changes = [
      change(network(1), null),
      change(network(2), network(2, 9)),
      change(network(3), network(4)),
      change(null, network(5)),
    ];
    expect(encodeEntityChanges(before, changes).digest).toBe(
      digestOf(network(2, 9), network(4), network(5)),
    );
  });
});
