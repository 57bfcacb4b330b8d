import { integer, optional, url } from '@weir/ops';
import { DEFAULT_LOCK_OPTIONS } from './migrate.js';

/** Variables of the migrate command. */
export const SCHEMA = {
  DATABASE_URL: url(['postgresql', 'postgres'], {
    description:
      'The database to bring up to date, as control planes connect to it: PostgreSQL itself, as a pooler by the ' +
      'transaction holds off no second run.',
  }),
  OWNER_DATABASE_URL: optional(
    url(['postgresql', 'postgres'], {
      description:
        'The same database with the role that owns the tables. The role of DATABASE_URL is then created if it is ' +
        'missing, and may read and write rows, no more. Unset: the role of DATABASE_URL owns the tables.',
    }),
  ),
  LOCK_TIMEOUT_MS: integer(1, 600_000, {
    description:
      'Longest that a migration, and others behind it, wait for a table in use. Then the others go first.',
    default: String(DEFAULT_LOCK_OPTIONS.lockTimeoutMs),
  }),
  LOCK_ATTEMPTS: integer(1, 10_000, {
    description:
      'How often a migration tries before it gives up and leaves the database as it was.',
    default: String(DEFAULT_LOCK_OPTIONS.lockAttempts),
  }),
};
