import { expect, it } from 'vitest';
import { namedStatements } from './database.js';

it('gives the same name to the same text, and different names to different texts', () => {
  const name = namedStatements();
  const first = name({ sql: 'SELECT 1' });
  expect(first).not.toBe('');
  expect(name({ sql: 'SELECT 2' })).not.toBe(first);
  expect(name({ sql: 'SELECT 1' })).toBe(first);
});

it('gives no name to new texts when all names are used, and keeps the existing ones', () => {
  const name = namedStatements();
  const names = Array.from({ length: 1_000 }, (_, i) => name({ sql: `SELECT ${i}` }));
  expect(new Set(names).size).toBe(201);
  expect(names.slice(200).every((one) => one === '')).toBe(true);
  expect(name({ sql: 'SELECT 0' })).toBe(names[0]);
});
