import { runMain } from '@weir/ops';
import { SCHEMA } from './migrate/configuration.js';
import { migrate } from './migrate/migrate.js';
import { readStatus } from './migrate/migrations.js';
import { print } from './command.js';

const PENDING = 2;

runMain(
  {
    name: 'migrate',
    description: 'brings the database up to date with the migrations of this release',
    schema: SCHEMA,
    packageFile: new URL('../../package.json', import.meta.url),
    flags: { '--status': 'to tell which migrations are applied and which are pending' },
    notes:
      'Exit code: 0 when the database is up to date, 1 when something failed, 2 when --status found something pending.',
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async (configuration, flag) => {
    const { DATABASE_URL: databaseUrl, OWNER_DATABASE_URL: ownerUrl } = configuration;
    if (flag === undefined) {
      const { LOCK_TIMEOUT_MS: lockTimeoutMs, LOCK_ATTEMPTS: lockAttempts } = configuration;
      const lockOptions = { lockTimeoutMs, lockAttempts };
      await migrate({ databaseUrl, ownerUrl, log: print, lockOptions });
      return;
    }
    const { lines, isUpToDate } = await readStatus(ownerUrl ?? databaseUrl);
    lines.forEach(print);
    if (!isUpToDate) process.exitCode = PENDING;
  },
);
