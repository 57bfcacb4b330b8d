import { RowError } from '@weir/config-model';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { otherTurns } from '../testing/other-turns.js';
import { parseJson } from './parse-json.js';

const PIECE = 40_000;

async function outcome(parse: () => unknown): Promise<unknown> {
  try {
    return { value: await parse() };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RowError) return 'not JSON';
    throw error;
  }
}

/** Long text: its white space puts the cuts of the pieces at any place. */
const spaced = fc.constantFrom('', ' ', '\n', ' '.repeat(PIECE), `"${'x'.repeat(PIECE)}"`);
const token = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('[', ']', '{', '}', ',', ':', '1', '"a"', 'null') },
  { weight: 2, arbitrary: fc.json() },
  { weight: 3, arbitrary: spaced },
);
const list = fc
  .array(fc.tuple(spaced, fc.json()), { minLength: 1, maxLength: 5 })
  .map(
    (items) =>
      `[${items.map(([space, item]) => `${space.replaceAll('"', ' ').replaceAll('x', ' ')}${item}`).join(',')}]`,
  );
const text = fc.oneof(
  list,
  list.map((one) => `{"a":1,"__proto__":${one},"b":{"c":${one}},"a":${one}}`),
  list.map((one) => one.replace(/,\s*/, ',,')),
  list.map((one) => one.replace(/]$/, ',]')),
  fc.array(token, { maxLength: 8 }).map((tokens) => tokens.join('')),
  fc.array(token, { maxLength: 6 }).map((tokens) => `[${tokens.join('')}]`),
  fc.array(token, { maxLength: 6 }).map((tokens) => `{"a":[${tokens.join('')}]}`),
);
const long = ' '.repeat(200_000);

it('accepts what JSON.parse accepts, and reads the same', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (json) => {
      const expected = await outcome(() => JSON.parse(json));
      expect(await outcome(() => parseJson(Buffer.from(json)))).toEqual(expected);
      expect(await outcome(() => parseJson(Buffer.from(long + json)))).toEqual(expected);
    }),
    { numRuns: 300, endOnFailure: true },
  );
});

it('skips a byte order mark, and refuses what is not UTF-8', async () => {
  for (const space of ['', long]) {
    expect(await parseJson(Buffer.from(`\u{feff}${space}[1]`))).toEqual([1]);
    const latin = Buffer.from(`${space}["\u00e4"]`, 'latin1');
    await expect(parseJson(latin)).rejects.toThrow(SyntaxError);
  }
});

it('lets others run while it parses long lists', async () => {
  const items = Array.from({ length: 200_000 }, (_, id) => ({ id, name: 'x'.repeat(20) }));
  for (const body of [items, { items }]) {
    const bytes = Buffer.from(JSON.stringify(body));
    expect(await otherTurns(() => parseJson(bytes))).toBeGreaterThan(0);
    expect(await parseJson(bytes)).toEqual(body);
  }
});
