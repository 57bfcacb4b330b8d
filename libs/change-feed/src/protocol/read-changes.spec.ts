import { type Change, encodeChange, type Operation, RowError } from '@weir/config-model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Yielder } from '../runtime/yielder.js';
import { turnsDuring } from '../testing/turns-during.js';
import { renderChangesPage, toLoggedChange } from './logged-change.js';
import { readChangesPage } from './read-changes.js';
import { SteppedJson } from './stepped-json.js';

const DIGEST = '0123456789abcdef';
const HEAD = { lineage: '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01', revision: 9, digest: DIGEST };

const changeOf = (revision: number, rules: number): Change => ({
  revision,
  digest: DIGEST,
  operations: Array.from({ length: rules }, (_, domainHash): Operation => {
    const rule = { profileId: 1, domainHash };
    return domainHash % 2 === 0
      ? { type: 'put', kind: 'domainRule', entity: { ...rule, verdict: 2 } }
      : { type: 'delete', kind: 'domainRule', key: rule };
  }),
});
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const asSent = (change: Change): object => encodeChange(change);

describe('readChangesPage', () => {
  it('reads changes of any size, each whole and in order', async () => {
    const changes = [0, 1, 2, 999, 1_000, 3_500].map((rules, i) => changeOf(i, rules));
    const page = { head: HEAD, changes: changes.map(asSent), later: [[['unknown']]] };
    expect(await readChangesPage(bytesOf(page))).toEqual({ head: HEAD, changes });
    const spaced = Buffer.from(JSON.stringify(page, null, 1));
    expect(await readChangesPage(spaced)).toEqual({ head: HEAD, changes });
  });

  it('reads what the control plane renders', async () => {
    const changes = [0, 1, 3_500].map((rules, i) => changeOf(i, rules));
    const page = renderChangesPage(HEAD, changes.map(toLoggedChange));
    expect(page).toBe(JSON.stringify({ head: HEAD, changes: changes.map(asSent) }));
    expect(await readChangesPage(Buffer.from(page))).toEqual({ head: HEAD, changes });
  });

  it.each([
    ['nothing', ''],
    ['a value that is no object', 'null'],
    ['a page without a head', '{"changes":[]}'],
    ['a page without changes', JSON.stringify({ head: HEAD })],
    ['a change without a head', JSON.stringify({ head: HEAD, changes: [{ operations: [] }] })],
    [
      'operations that are no array',
      JSON.stringify({ head: HEAD, changes: [{ revision: 1, digest: DIGEST, operations: {} }] }),
    ],
    [
      'a change that is cut off',
      JSON.stringify({ head: HEAD, changes: [asSent(changeOf(1, 9))] }).slice(0, -4),
    ],
  ])('refuses %s', async (_, text) => {
    await expect(readChangesPage(Buffer.from(text))).rejects.toThrow(RowError);
  });

  it('yields to other callbacks while it reads a large change', async () => {
    const page = bytesOf({ head: HEAD, changes: [asSent(changeOf(1, 200_000))] });
    expect(await turnsDuring(readChangesPage(page))).toBeGreaterThan(5);
  });
});

describe('SteppedJson', () => {
  /** The value, put together again from its pieces. */
  async function read(json: Buffer, depth: number): Promise<unknown> {
    const stepped = await SteppedJson.scan(json, depth, new Yielder());
    const restore = (value: unknown, level: number): unknown => {
      if (Array.isArray(value)) {
        return level === depth
          ? [...stepped.elements(value)].flat()
          : value.map((one) => restore(one, level + 1));
      }
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, restore(one, level + 1)]),
      );
    };
    return restore(stepped.rest, 1);
  }

  it('is what JSON.parse reads, at any depth', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.integer({ min: 1, max: 4 }), async (json, depth) => {
        expect(JSON.stringify(await read(Buffer.from(json), depth))).toBe(
          JSON.stringify(JSON.parse(json)),
        );
      }),
    );
  });

  it('is no JSON with a comma too many, wherever it is cut', async () => {
    const space = ' '.repeat(40_000);
    for (const json of [`[${space},1]`, `[1${space},]`, `[1${space},${space},1]`]) {
      await expect(read(Buffer.from(json), 1)).rejects.toThrow(RowError);
    }
  });

  it('cuts no string, whatever is in it', async () => {
    const strings = ['"', '\\', '\\"', '],[', '}', 'ä', '€,', '"]'.repeat(9_000)];
    const long = Array.from({ length: 4_000 }, (_, i) => [strings[i % strings.length], i]);
    expect(await read(bytesOf({ long }), 2)).toEqual({ long });
  });
});
