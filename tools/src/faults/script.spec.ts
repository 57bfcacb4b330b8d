import { describe, expect, it } from 'vitest';
import { Random } from '../deployment/random.js';
import { messageFaults, processFaults, PROCESS_FAULTS } from './script.js';

describe('the script of faults', () => {
  const kindsOf = (seed: number, hasPrevious: boolean, count: number) =>
    Array.from(processFaults(new Random(seed), hasPrevious).take(count), ({ kind }) => kind);
  const release = 'release of a replica changed';

  it('is the same for the same seed, and has every fault in each round', () => {
    const first = (seed: number) =>
      processFaults(new Random(seed)).take(PROCESS_FAULTS.length).toArray();
    expect(first(1)).toEqual(first(1));
    expect(first(1)).not.toEqual(first(2));
    const round = kindsOf(1, false, PROCESS_FAULTS.length - 1);
    expect([...round, release].sort()).toEqual([...PROCESS_FAULTS].sort());
    expect(messageFaults(new Random(1)).take(4).toArray()).toHaveLength(4);
  });

  it('begins with the previous release, if there is one, and changes the release every few faults', () => {
    const turns = [0, 7, 14, 21, 28];
    const kinds = kindsOf(1, true, PROCESS_FAULTS.length - 1 + turns.length);
    const changes = kinds.flatMap((kind, i) => (kind === release ? [i] : []));
    expect(changes).toEqual(turns);
    const others = new Set(kinds.filter((kind) => kind !== release));
    expect([...others, release].sort()).toEqual([...PROCESS_FAULTS].sort());
  });
});
