import 'reflect-metadata';
import { IsInt, IsOptional, ValidateIf } from 'class-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Convert,
  IsFlag,
  IsId,
  IsInteger,
  IsList,
  IsNested,
  IsNestedList,
  IsOneOf,
  IsText,
  MAX_ITEMS,
  Optional,
  IntegerParameter,
} from './rules.js';
import { MAX_FAULTS } from './fault.js';
import { read, readList } from './reader.js';

const IsWord = () => IsText('a word', (text) => /^\w+$/.test(text));
const upperCase = (value: unknown): unknown =>
  typeof value === 'string' && !value.includes(' ') ? value.toUpperCase() : value;

class Inner {
  @IsId()
  id!: number;

  @Optional()
  @IsOneOf(['allow', 'deny'])
  status = 'deny';
}

class Outer {
  @IsInteger(-1, 1)
  number!: number;

  @IsOptional()
  @IsFlag()
  maybe: boolean | null = null;

  @Optional()
  @IsList()
  @IsId({ each: true })
  ids: number[] = [];

  @Convert(upperCase)
  @Optional()
  @IsWord()
  name?: string;

  @IsNested(() => Inner)
  inner!: Inner;

  @Optional()
  @IsNestedList(() => Inner)
  more: Inner[] = [];
}

class Path {
  @IntegerParameter(0, 9)
  part!: number;
}

const faultsOf = (reading: { faults: readonly { loc: readonly string[]; type: string }[] }) =>
  reading.faults.map(({ loc, type }) => `${loc.join('.')}: ${type}`);

describe('read', () => {
  it('reads an object with its defaults, also nested ones', () => {
    const { value, faults } = read(Outer, { number: 0, inner: { id: 1 }, more: [{ id: 2 }] });
    expect(faults).toEqual([]);
    expect(value).toMatchObject({
      number: 0,
      maybe: null,
      ids: [],
      inner: { id: 1, status: 'deny' },
      more: [{ id: 2, status: 'deny' }],
    });
    expect(value.name).toBeUndefined();
  });

  it('converts a valid text, and leaves an invalid one', () => {
    const rest = { number: 0, inner: { id: 1 } };
    expect(read(Outer, { ...rest, name: 'abc' }).value.name).toBe('ABC');
    const wrong = read(Outer, { ...rest, name: 'a b' });
    expect([wrong.value.name, faultsOf(wrong)]).toEqual(['a b', ['name: value_error']]);
  });

  it('distinguishes a missing field from null', () => {
    expect(faultsOf(read(Outer, {}))).toEqual(['number: missing', 'inner: missing']);
    expect(faultsOf(read(Outer, { number: null, inner: null }))).toEqual([
      'number: int_type',
      'inner: object_type',
    ]);
    expect(
      faultsOf(read(Outer, { number: 0, inner: { id: 1 }, maybe: null, ids: null, name: null })),
    ).toEqual(['ids: list_type', 'name: string_type']);
  });

  it('continues in a list when some items are not objects', () => {
    const more = [{ id: 1 }, 7, { id: 'x' }, null, [], { id: 2, status: 'x', other: 1 }];
    expect(faultsOf(read(Outer, { number: 0, inner: { id: 1 }, more })).sort()).toEqual([
      'more.1: object_type',
      'more.2.id: int_type',
      'more.3: object_type',
      'more.4: object_type',
      'more.5.other: extra_forbidden',
      'more.5.status: enum',
    ]);
  });

  it('never throws, converts nothing, and accepts only valid objects', () => {
    const anything = fc.anything({ withNullPrototype: false });
    const likely = fc.record(
      {
        number: fc.oneof(fc.integer({ min: -3, max: 3 }), anything),
        maybe: fc.oneof(fc.boolean(), anything),
        ids: fc.oneof(fc.array(fc.nat()), anything),
        inner: fc.oneof(fc.record({ id: fc.oneof(fc.nat(), anything) }), anything),
        more: fc.oneof(fc.array(fc.oneof(fc.record({ id: fc.nat() }), anything)), anything),
      },
      { requiredKeys: [] },
    );
    // A body has only values that JSON can express.
    const json = fc.oneof(likely, anything, fc.jsonValue()).map((value) => {
      const text = JSON.stringify(value, (_key, inner: unknown) =>
        typeof inner === 'bigint' ? Number(inner) : inner,
      ) as string | undefined;
      return JSON.parse(text ?? 'null') as unknown;
    });
    fc.assert(
      fc.property(json, (plain) => {
        const { number, inner } = (plain ?? {}) as { number?: unknown; inner?: { id?: unknown } };
        const { faults } = read(Outer, plain);
        if (faults.length > 0) return;
        expect([-1, 0, 1]).toContain(Object.is(number, -0) ? 0 : number);
        expect(Number.isInteger(inner?.id)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a class', () => {
  it('with a rule that has no fault of the contract cannot be read', () => {
    class Bare {
      @IsInt()
      id!: number;
    }
    expect(() => read(Bare, {})).toThrow('Bare.id has a rule without a fault');
  });

  it('with a condition that the reader does not know cannot be read', () => {
    class Conditional {
      @ValidateIf(() => true)
      @IsId()
      id!: number;
    }
    expect(() => read(Conditional, {})).toThrow('Conditional.id');
  });
});

describe('readList', () => {
  it('reads each item, and reports which one is invalid', () => {
    expect(readList(Inner, [{ id: 1 }, { id: 2, status: 'allow' }]).value).toMatchObject([
      { id: 1, status: 'deny' },
      { id: 2, status: 'allow' },
    ]);
    expect(faultsOf(readList(Inner, [{ id: 1 }, {}, 5]))).toEqual([
      '1.id: missing',
      '2: object_type',
    ]);
    expect(faultsOf(readList(Inner, { id: 1 }))).toEqual([': list_type']);
    const items = Array.from({ length: MAX_ITEMS + 1 }, () => ({ id: 1 }));
    expect(faultsOf(readList(Inner, items))).toEqual([': too_long']);
    expect(faultsOf(readList(Inner, items.slice(1)))).toEqual([]);
  });
});

describe('a bad body of any size', () => {
  /** Items whose reads are counted, each with one fault. */
  const badItems = () => {
    const seen = { reads: 0 };
    const items = Array.from({ length: MAX_ITEMS }, () => ({
      get id() {
        seen.reads++;
        return 'x';
      },
    }));
    return { seen, items };
  };
  const FIRST = Array.from({ length: MAX_FAULTS }, (_, i) => `${i}.id: int_type`);

  it('is read to its first hundred faults, as an array', () => {
    const { seen, items } = badItems();
    expect(faultsOf(readList(Inner, items))).toEqual(FIRST);
    expect(seen.reads).toBeLessThan(10 * MAX_FAULTS);
  });

  it('is read to the first hundred faults of an array in an object', () => {
    const { seen, items } = badItems();
    const reading = read(Outer, { number: 0, inner: { id: 1 }, more: items });
    expect(faultsOf(reading)).toEqual(FIRST.map((fault) => `more.${fault}`));
    expect(seen.reads).toBeLessThan(10 * MAX_FAULTS);
  });

  it('is not read at all when an array is too long', () => {
    const { seen, items } = badItems();
    const more = [...items, ...items];
    const reading = read(Outer, { number: 0, inner: { id: 1 }, more });
    expect(faultsOf(reading)).toEqual(['more: too_long']);
    expect(faultsOf(readList(Inner, more))).toEqual([': too_long']);
    expect(seen.reads).toBe(0);
  });

  it('is not validated any further when it has more than a hundred unknown fields', () => {
    let reads = 0;
    const plain: Record<string, unknown> = {};
    const countRead = () => ++reads;
    for (let i = 0; i < 10_000; i++) {
      Object.defineProperty(plain, `x${i}`, {
        enumerable: true,
        configurable: true,
        get: countRead,
      });
    }
    const { faults } = read(Outer, plain);
    expect(faults).toHaveLength(MAX_FAULTS);
    expect(faultsOf({ faults })[0]).toBe('x0: extra_forbidden');
    expect(reads).toBe(0);
  });
});

describe('IntegerParameter', () => {
  it.each([
    ['7', 7, []],
    ['007', 7, []],
    ['10', 10, ['part: less_than_equal']],
    ['-1', -1, ['part: greater_than_equal']],
    ['7.0', '7.0', ['part: int_type']],
    ['', '', ['part: int_type']],
    ['9'.repeat(30), '9'.repeat(30), ['part: int_type']],
  ])('reads %j', (text, value, faults) => {
    const reading = read(Path, { part: text });
    expect([reading.value.part, faultsOf(reading)]).toEqual([value, faults]);
  });
});
