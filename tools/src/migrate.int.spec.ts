import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { beforeAll, describe, expect, inject, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DATABASE = `migrate_command_${process.pid}`;

/** Runs the compiled command as an operator does. */
async function run(databaseUrl: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  const command = [`${ROOT}tools/dist/migrate.js`, ...args];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, command, { env });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

beforeAll(async () => {
  const admin = new pg.Client(inject('databaseUrl'));
  await admin.connect();
  await admin.query(`CREATE DATABASE ${DATABASE}`);
  await admin.end();
});

describe('the migrate command', () => {
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${DATABASE}`;

  it('exits with 2 when --status finds pending migrations, then migrates, then finds none', async () => {
    const before = await run(url.href, '--status');
    expect(before.output).toMatch(/^pending {2}\d{14}_init\n/);
    expect(before.code).toBe(2);
    const migrated = await run(url.href);
    expect(migrated.output).toMatch(/^applying \d{14}_init \(1 of \d+\)\n/);
    expect(migrated.code).toBe(0);
    const after = await run(url.href, '--status');
    expect(after.output).toMatch(/^applied {2}\d{14}_init {2}\d{4}-\S+Z\n/);
    expect(after.code).toBe(0);
  });

  it('exits with 1 and prints one line when something failed', async () => {
    expect(await run('postgresql://weir@127.0.0.1:1/weir')).toEqual({
      code: 1,
      output:
        'migrate: the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1 (DATABASE_URL)\n',
    });
  });

  it('explains its arguments, variables and exit codes', async () => {
    const { code, output } = await run('', '--help');
    expect(code).toBe(0);
    for (const word of ['--status', 'DATABASE_URL', 'LOCK_TIMEOUT_MS', 'Exit code']) {
      expect(output).toContain(word);
    }
  });
});
