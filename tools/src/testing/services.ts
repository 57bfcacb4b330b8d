import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../migrate/migrate.js';
import { startPostgres } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A PostgreSQL server. Each spec creates its own database there. */
    databaseUrl: string;
    /**
     * Name of a migrated, otherwise empty database, for `CREATE DATABASE … TEMPLATE`. No connection to it is allowed.
     */
    migratedTemplate: string;
    /** A Redis server that all specs of the run share. */
    redisUrl: string;
  }
}

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
const TEMPLATE = 'migrated_template';

/** Global setup of the integration tests: one real PostgreSQL and one real Redis for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-services-'));
  const [postgres, redis] = await Promise.all([
    startPostgres({
      dataDir: join(folder, 'postgres'),
      logFile: join(folder, 'postgres.log'),
      settings: [
        ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'],
        'max_connections=400',
      ],
    }),
    startRedis({ dataDir: join(folder, 'redis'), logFile: join(folder, 'redis.log') }),
  ]);
  await createTemplate(postgres.url);
  project.provide('databaseUrl', postgres.url);
  project.provide('migratedTemplate', TEMPLATE);
  project.provide('redisUrl', redis.url);
  return async () => {
    await Promise.all([postgres.stop(), redis.child.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
}

async function createTemplate(adminUrl: string): Promise<void> {
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const url = new URL(adminUrl);
  url.pathname = `/${TEMPLATE}`;
  await migrate({ databaseUrl: url.href, folder: MIGRATIONS });
}
