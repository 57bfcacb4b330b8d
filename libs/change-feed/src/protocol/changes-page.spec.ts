import { type Change, encodeChange, type Operation, RowError } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import { readChangesPage, renderChangesPage, toLoggedChange } from './changes.js';

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
});
