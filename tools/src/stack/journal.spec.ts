import { closeSync, fstatSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isSystemdJournal } from './journal.js';

it('the journal is known by device and inode, and not by the variable alone', () => {
  const file = openSync(fileURLToPath(import.meta.url), 'r');
  const { dev, ino } = fstatSync(file);
  expect(isSystemdJournal(`${dev}:${ino}`, file)).toBe(true);
  expect(isSystemdJournal(`${dev}:${ino + 1}`, file)).toBe(false);
  expect(isSystemdJournal(undefined, file)).toBe(false);
  closeSync(file);
});
