import { type EncodedOperation, fromRow } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import type { LoggedRecords } from './keys/key.js';
import { isAbout, LoggedRows } from './verify-log.js';

const put = (address: number, profileId: number): EncodedOperation => [
  'put',
  'ipv4Network',
  [address, 32, profileId],
];
const records: LoggedRecords = {
  kind: 'ipv4Network',
  prefix: [7],
  text: (rows) => rows.map((row) => fromRow('ipv4Network', row).profileId).join(' ') || null,
};

describe('LoggedRows', () => {
  it('has what was put last and not deleted since', () => {
    const logged = new LoggedRows();
    expect(logged.text(records)).toBeNull();
    logged.apply([put(7, 1), put(8, 2)]);
    logged.apply([put(7, 3)]);
    expect(logged.text(records)).toBe('3');
    logged.apply([['delete', 'ipv4Network', [7, 32]]]);
    expect(logged.text(records)).toBeNull();
  });

  it('knows only what was changed after a reload', () => {
    const logged = new LoggedRows();
    logged.apply([put(7, 1)]);
    logged.apply([['reload']]);
    expect(logged.text(records)).toBeUndefined();
    logged.apply([put(7, 4)]);
    logged.learn(records);
    expect(logged.text(records)).toBe('4');
  });
});

it('isAbout tells the operations of a key from those of others', () => {
  expect(isAbout(records, put(7, 1))).toBe(true);
  expect(isAbout(records, put(8, 1))).toBe(false);
  expect(isAbout(records, ['delete', 'schedule', [7]])).toBe(false);
  expect(isAbout(records, ['reload'])).toBe(false);
});
