import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations/', import.meta.url));

let number = 0;

/** A database with this version's schema and nothing in it, on the server of `adminUrl`. @returns its URL. */
export async function createFreshDatabase(adminUrl: string): Promise<string> {
  const name = `control_plane_${process.pid}_${++number}`;
  await run(adminUrl, [`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `CREATE DATABASE ${name}`]);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const folders = readdirSync(MIGRATIONS, { withFileTypes: true }).filter((e) => e.isDirectory());
  const files = folders.map((folder) => `${MIGRATIONS}${folder.name}/migration.sql`).sort();
  await run(
    url.href,
    files.map((file) => readFileSync(file, 'utf8')),
  );
  return url.href;
}

export async function dropDatabase(adminUrl: string, databaseUrl: string): Promise<void> {
  await run(adminUrl, [`DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`]);
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
