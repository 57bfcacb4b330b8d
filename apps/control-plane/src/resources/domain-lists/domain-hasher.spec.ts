import { parseHashKey } from '@weir/dns-name';
import { expect, it } from 'vitest';
import { otherTurns } from '../../testing/other-turns.js';
import { DomainHasher } from './domain-hasher.js';

const hasher = new DomainHasher(parseHashKey('000102030405060708090a0b0c0d0e0f'));
const names = Array.from({ length: 100_000 }, (_, i) => `Host-${i}.Example.com.`);

it('hashes many names in their order, and lets others run meanwhile', async () => {
  let hashes: readonly number[] = [];
  const hashAll = async (): Promise<void> => {
    hashes = await hasher.hashAll(names);
  };
  expect(await otherTurns(hashAll)).toBeGreaterThan(0);
  expect(hashes.length).toBe(names.length);
  expect([hashes[0], hashes.at(-1)]).toEqual([
    hasher.hash('host-0.example.com'),
    hasher.hash('host-99999.example.com'),
  ]);
});
