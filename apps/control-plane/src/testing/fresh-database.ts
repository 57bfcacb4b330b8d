import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    migratedTemplate: string;
  }
}

let number = 0;

/** Creates an empty database with the current schema, on the server of `adminUrl`. @returns its URL. */
export async function createFreshDatabase(adminUrl: string): Promise<string> {
  return createDatabase(adminUrl, inject('migratedTemplate'));
}

/** Creates a database without a schema. @returns its URL. */
export async function createEmptyDatabase(adminUrl: string): Promise<string> {
  return createDatabase(adminUrl, 'template1');
}

export async function dropDatabase(adminUrl: string, databaseUrl: string): Promise<void> {
  await run(adminUrl, [`DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`]);
}

async function createDatabase(adminUrl: string, template: string): Promise<string> {
  const name = `control_plane_${process.pid}_${++number}`;
  await run(adminUrl, [
    `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
    `CREATE DATABASE ${name} TEMPLATE ${template}`,
  ]);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
