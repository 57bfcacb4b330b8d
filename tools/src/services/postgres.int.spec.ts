import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { startPostgres } from './postgres.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-postgres-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const options = { dataDir: join(folder, 'postgres'), logFile: join(folder, 'postgres.log') };

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

it('startPostgres stops a server that a killed stack left running, and uses its data', async () => {
  const left = await startPostgres(options);
  await query(left.url, 'CREATE TABLE kept AS SELECT 7 AS value');
  const next = await startPostgres(options);
  expect(await left.child.exited).toEqual({ code: 0 });
  expect(await query(next.url, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
  await next.stop();
});

it('startPostgres names the page about upgrades when the data are those of another major version', async () => {
  const dataDir = join(folder, 'older');
  await (await startPostgres({ ...options, dataDir })).stop();
  writeFileSync(join(dataDir, 'PG_VERSION'), '15\n');
  await expect(startPostgres({ ...options, dataDir })).rejects.toThrow(
    /older has data of PostgreSQL 15, and this is PostgreSQL \d+: docs\/operations\/postgresql-upgrade\.md/,
  );
});

it('PostgreSQL refuses connections without the password', async () => {
  const server = await startPostgres(options);
  const url = new URL(server.url);
  url.password = 'guess';
  await expect(query(url.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  await server.stop();
});
