import { runMain, url } from '@weir/ops';
import { fileURLToPath } from 'node:url';
import { migrate } from './migrate/migrate.js';

const SCHEMA = {
  DATABASE_URL: url(['postgresql', 'postgres'], {
    description: 'The database to bring up to date.',
  }),
};

runMain(
  {
    name: 'migrate',
    description: 'brings the database up to date with the migrations of this version',
    schema: SCHEMA,
    argv: process.argv.slice(2),
    environment: process.env,
  },
  async ({ DATABASE_URL }) => {
    const log = (line: string): void => void process.stdout.write(`${line}\n`);
    const folder = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
    const applied = await migrate({ databaseUrl: DATABASE_URL, folder, log });
    if (applied.length === 0) log('the database is up to date');
  },
);
