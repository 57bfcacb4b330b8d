import { type Change, encodeChange, type Operation, RowError } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { decodeChanges } from './decode-changes.js';

const changeOf = (revision: number, rules: number): Change => ({
  revision,
  digest: '0123456789abcdef',
  operations: Array.from({ length: rules }, (_, domainHash): Operation => {
    const rule = { profileId: 1, domainHash };
    return domainHash % 2 === 0
      ? { type: 'put', kind: 'domainRule', entity: { ...rule, verdict: 2 } }
      : { type: 'delete', kind: 'domainRule', key: rule };
  }),
});
const asSent = (changes: readonly Change[]) =>
  JSON.parse(JSON.stringify(changes.map(encodeChange))) as unknown[];

describe('decodeChanges', () => {
  it('decodes changes of any size, each whole and in order', async () => {
    const changes = [0, 1, 999, 1_000, 1_001, 2_000, 3_500].map((rules, i) => changeOf(i, rules));
    expect(await decodeChanges(asSent(changes))).toEqual(changes);
  });

  it.each([
    ['a value that is no object', null],
    ['a change without a head', { operations: [] }],
    ['a change without operations', { revision: 1, digest: '0123456789abcdef' }],
    [
      'a bad operation behind many good ones',
      {
        ...(asSent([changeOf(1, 0)])[0] as object),
        operations: Array(5_000).fill(['reload']).concat('x'),
      },
    ],
  ])('refuses %s', async (_, value) => {
    await expect(decodeChanges([value])).rejects.toThrow(RowError);
  });

  it('yields to other callbacks while it decodes a large change', async () => {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const sent = asSent([changeOf(1, 200_000)]);
    setImmediate(count);
    await decodeChanges(sent);
    isOver = true;
    expect(turns).toBeGreaterThan(5);
  });
});
