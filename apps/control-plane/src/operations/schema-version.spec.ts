import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SCHEMA_VERSION } from './database-check.js';

const MIGRATIONS = fileURLToPath(new URL('../../../../prisma/migrations', import.meta.url));

it('is the newest migration', () => {
  const folders = readdirSync(MIGRATIONS, { withFileTypes: true }).filter((e) => e.isDirectory());
  const newest = folders
    .map(({ name }) => name)
    .sort()
    .at(-1);
  expect(SCHEMA_VERSION, 'set it in database-check.ts').toBe(newest);
});
