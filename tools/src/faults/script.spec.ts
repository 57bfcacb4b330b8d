import { describe, expect, it } from 'vitest';
import { Random } from '../deployment/random.js';
import { messageScript, processScript } from './script.js';

describe('the script of faults', () => {
  const release = 'release of a replica changed';
  const ALL = ['kill replica', 'stop resolver', release, 'feed silent', 'resolver alone'] as const;
  const kindsOf = (seed: number, hasPrevious: boolean, count: number) =>
    Array.from(processScript(new Random(seed), ALL, hasPrevious).take(count), ({ kind }) => kind);

  it('is the same for the same seed, and has every fault in each round', () => {
    const first = (seed: number) => processScript(new Random(seed), ALL).take(40).toArray();
    expect(first(1)).toEqual(first(1));
    expect(first(1)).not.toEqual(first(2));
    const round = kindsOf(1, false, ALL.length - 1);
    expect([...round, release].sort()).toEqual([...ALL].sort());
    expect(messageScript(new Random(1), ['drop', 'cut']).take(4).toArray()).toHaveLength(4);
  });

  it('begins with the previous release, if there is one, and changes the release every few faults', () => {
    const turns = [0, 7, 14, 21, 28];
    const kinds = kindsOf(1, true, 30);
    const changes = kinds.flatMap((kind, i) => (kind === release ? [i] : []));
    expect(changes).toEqual(turns);
    const others = new Set(kinds.filter((kind) => kind !== release));
    expect([...others, release].sort()).toEqual([...ALL].sort());
  });
});
