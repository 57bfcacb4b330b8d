import { closeSync, fstatSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isJournal } from './journal.js';

it('the journal is known by device and inode, and not by the variable alone', () => {
  const file = openSync(fileURLToPath(import.meta.url), 'r');
  const { dev, ino } = fstatSync(file);
  expect(isJournal(`${dev}:${ino}`, file)).toBe(true);
  expect(isJournal(`${dev}:${ino + 1}`, file)).toBe(false);
  expect(isJournal(undefined, file)).toBe(false);
  closeSync(file);
});
