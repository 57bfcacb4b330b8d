import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeChange,
  decodeOperation,
  type DeleteOperation,
  encodeChange,
  encodeOperation,
} from './codec.js';
import { fromKeyRow, fromRow, KEY_LENGTHS, RowError, toKeyRow, toRow } from './rows.js';
import { change, kindAndEntity } from './testing/arbitraries.js';

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('rows', () => {
  it('keep every entity exactly, also as JSON', () => {
    fc.assert(
      fc.property(kindAndEntity, ({ kind, entity }) => {
        expect(fromRow(kind, throughJson(toRow(kind, entity)))).toEqual(entity);
      }),
    );
  });

  it('keep every key', () => {
    fc.assert(
      fc.property(kindAndEntity, ({ kind, entity }) => {
        expect(entity).toMatchObject(fromKeyRow(kind, toKeyRow(kind, entity as never)));
      }),
    );
  });

  it('begin with the row of their key', () => {
    fc.assert(
      fc.property(kindAndEntity, ({ kind, entity }) => {
        const keyRow = toKeyRow(kind, entity as never);
        expect(keyRow).toEqual(toRow(kind, entity).slice(0, KEY_LENGTHS[kind]));
      }),
    );
  });

  it('are refused when a value is missing, left over, or not an integer', () => {
    fc.assert(
      fc.property(kindAndEntity, fc.nat(), ({ kind, entity }, at) => {
        const row = toRow(kind, entity);
        expect(() => fromRow(kind, row.slice(0, -1))).toThrow(RowError);
        expect(() => fromRow(kind, [...row, 0])).toThrow(RowError);
        expect(() => fromRow(kind, row.with(at % row.length, 0.5))).toThrow(RowError);
        expect(() => fromRow(kind, (row as unknown[]).with(at % row.length, '1'))).toThrow(
          RowError,
        );
      }),
    );
  });

  it.each([
    ['ipv4Network', [4294967296, 24, 1]],
    ['ipv4Network', [0, 33, 1]],
    ['ipv4Network', [0, 24, 2147483648]],
    ['domainRule', [1, 2 ** 53, 1]],
    ['domainRule', [1, 1, 3]],
    ['naptAssignment', [0, 10, 9, 1]],
    ['schedule', [1, 2, 1, 336, 0]],
    ['profile', [1, null, 8, 0, 0]],
    ['blockPage', [1, 2]],
    ['order', [1, 2, null, 0, 1, 65]],
    ['order', [1, 2, null, 1, 0xd800, 1, 65]],
    ['order', [1, 2, 253402300800, 1, 65, 1, 65]],
    ['order', [1, 2, null, 1, 65, 201, ...Array<number>(201).fill(65)]],
    ['grant', [1, 2, 1, null]],
  ] as const)('of a %s out of its bounds are refused: %j', (kind, row) => {
    expect(() => fromRow(kind, row)).toThrow(RowError);
  });
});

describe('changes', () => {
  it('are the same after encoding and decoding', () => {
    fc.assert(
      fc.property(change, (one) => {
        expect(decodeChange(throughJson(encodeChange(one)))).toEqual(one);
      }),
    );
  });

  it('encode deletions by key', () => {
    const deletion: DeleteOperation = {
      type: 'delete',
      kind: 'domainRule',
      key: { profileId: 3, domainHash: 9 },
    };
    expect(encodeOperation(deletion)).toEqual(['delete', 'domainRule', [3, 9]]);
    expect(decodeOperation(['delete', 'domainRule', [3, 9]])).toEqual(deletion);
  });

  it('are refused with a RowError when anything is invalid', () => {
    const known = fc.oneof(
      fc.constantFrom('put', 'delete', 'reload', 'profile', 'schedule', 'x'),
      fc.jsonValue(),
    );
    const almost = fc.record({
      revision: fc.jsonValue(),
      digest: fc.jsonValue(),
      operations: fc.array(fc.array(known)),
    });
    fc.assert(
      fc.property(fc.oneof(almost, fc.jsonValue()), (value) => {
        try {
          decodeChange(value);
        } catch (error) {
          expect(error).toBeInstanceOf(RowError);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(() => decodeOperation(['put', 'constructor', []])).toThrow(RowError);
    expect(() => decodeOperation(['reload', 'x'])).toThrow(RowError);
  });
});
