import { closeSync, fstatSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { isSystemdJournal } from './welcome.js';

it('isSystemdJournal compares device and inode of the output with the variable', () => {
  const file = openSync(fileURLToPath(import.meta.url), 'r');
  const { dev, ino } = fstatSync(file);
  expect(isSystemdJournal(`${dev}:${ino}`, file)).toBe(true);
  expect(isSystemdJournal(`${dev}:${ino + 1}`, file)).toBe(false);
  expect(isSystemdJournal(undefined, file)).toBe(false);
  closeSync(file);
});
