import { expect, it } from 'vitest';
import { describeDatabaseError } from './database-errors.js';

const error = (message: string, code?: string) => Object.assign(new Error(message), { code });

it.each([
  [error('connect ECONNREFUSED 192.0.2.5:5432', 'ECONNREFUSED'), 'PostgreSQL is out of reach'],
  [error('relation "config_head" does not exist', '42P01'), 'the database is not migrated'],
  [
    error('password authentication failed for user "weir"', '28P01'),
    'PostgreSQL cannot be used; the log says why',
  ],
  [null, 'PostgreSQL cannot be used; the log says why'],
])('describes a database error without repeating it: %s', (trouble, words) => {
  expect(describeDatabaseError(trouble)).toBe(words);
});
