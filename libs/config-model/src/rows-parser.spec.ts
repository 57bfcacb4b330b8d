import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Digest } from './digest.js';
import { FlatRows } from './flat-rows.js';
import { RowsParser } from './rows-parser.js';
import { RowError, toRow } from './rows.js';
import { kindAndEntity } from './testing/arbitraries.js';

const parser = new RowsParser();
const parse = (text: string, before = '', after = ''): FlatRows | null => {
  const bytes = Buffer.from(before + text + after);
  return parser.parse(bytes, before.length, bytes.length - after.length);
};

const value = fc.oneof(
  fc.constantFrom(null, 0, 9, 10, 999_999_999, 1_000_000_000, 2 ** 31, 2 ** 32 - 1, 2 ** 32),
  fc.maxSafeNat(),
  fc.nat(),
);
const rows = fc.array(fc.array(value, { maxLength: 8 }), { maxLength: 20 });

describe('RowsParser', () => {
  it('reads the rows that JSON.stringify wrote, wherever they are in a text', () => {
    fc.assert(
      fc.property(rows, fc.constantFrom('', '7', '[['), (written, beside) => {
        const read = parse(JSON.stringify(written), beside, beside);
        expect(read && [...read]).toEqual(written);
        expect(JSON.stringify(read)).toBe(JSON.stringify(written));
      }),
    );
  });

  it('reads a damaged text as JSON.parse does, or refuses it', () => {
    const damage = fc.record({
      written: rows,
      at: fc.nat(),
      cut: fc.nat(2),
      put: fc.constantFrom('', '[', ']', ',', '-', '0', '9', '.', 'e', 'n', 'l', 'null', ' ', '"'),
    });
    fc.assert(
      fc.property(damage, ({ written, at, cut, put }) => {
        const whole = JSON.stringify(written);
        const start = at % whole.length;
        const text = whole.slice(0, start) + put + whole.slice(start + cut);
        // What is behind the end must not matter.
        const read = parse(text, '', ']]');
        if (read !== null) expect([...read]).toEqual(JSON.parse(text));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['', '[', ']', '[]]', '[1]', '[[1],]', '[[01]]', '[[1,]]', '[[,1]]', '[[1]', '[[nul]]'])(
    'reads no rows in %s',
    (text) => {
      expect(parse(text)).toBeNull();
    },
  );

  it('reads no number that JavaScript cannot keep exactly', () => {
    expect([...(parse('[[9007199254740991]]') ?? [])]).toEqual([[Number.MAX_SAFE_INTEGER]]);
    for (const digits of ['9007199254740992', '90071992547409910', '1'.repeat(40)])
      expect(parse(`[[${digits}]]`)).toBeNull();
  });
});

describe('FlatRows', () => {
  it('are the rows that they were made of', () => {
    fc.assert(
      fc.property(rows, (given) => {
        const flat = FlatRows.of(given);
        expect([...flat]).toEqual(given);
        expect(flat).toHaveLength(given.length);
      }),
    );
  });

  it.each([[7], [[-1]], [[1.5]], [['1']], [[2 ** 53]], [[undefined]], [[Number.NaN]]])(
    'refuse a row %j',
    (row) => {
      expect(() => FlatRows.of([[1], row])).toThrow(RowError);
    },
  );

  it('add the same to a digest as their rows one by one', () => {
    fc.assert(
      fc.property(fc.array(kindAndEntity), (entities) => {
        const [one, all] = [new Digest(), new Digest()];
        for (const { kind, entity } of entities) {
          one.add(kind, toRow(kind, entity));
          all.addAll(kind, FlatRows.of([toRow(kind, entity)]));
        }
        expect(all.toString()).toBe(one.toString());
      }),
    );
  });
});
