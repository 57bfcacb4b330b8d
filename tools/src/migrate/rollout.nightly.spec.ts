import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { findPreviousRelease } from '../release/previous.js';
import { cloneRelease } from '../services/clone.js';
import { playBasicCalls, playSharedCalls } from '../testing/basic-calls.js';
import { checkMigration } from '../testing/check-migration.js';
import {
  type ControlPlane,
  spawnControlPlane,
  startControlPlane,
} from '../testing/control-plane.js';
import { migrate } from './migrate.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MIGRATIONS = join(ROOT, 'prisma/migrations');
const NEXT = '20990101000000_next';

/** What a later release may do while this one runs. */
const EXPANDING = `
CREATE TABLE later (id integer PRIMARY KEY, profile_id integer REFERENCES profile (id) ON DELETE CASCADE);
ALTER TABLE profile
  ADD note text,
  ADD priority integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT profile_priority CHECK (priority >= 0) NOT VALID;
ALTER TABLE domain_rule ADD since timestamptz NOT NULL DEFAULT now();
`;

let folder: string;
let databaseUrl: string;
let number = 0;
const running: ControlPlane[] = [];

const keep = (controlPlane: ControlPlane) => {
  running.push(controlPlane);
  return controlPlane;
};
const options = (root = ROOT) => ({ root, folder, databaseUrl, redisUrl: inject('redisUrl') });
const start = async (root?: string) => keep(await startControlPlane(options(root)));
const spawn = async (variables: Record<string, string>) =>
  keep(await spawnControlPlane({ ...options(), variables: { LOG_LEVEL: 'info', ...variables } }));

/** The migrations of this release and one more. @returns their folder. */
async function withNext(sql: string): Promise<string> {
  const migrations = join(folder, 'migrations');
  await cp(MIGRATIONS, migrations, { recursive: true });
  await mkdir(join(migrations, NEXT));
  await writeFile(join(migrations, NEXT, 'migration.sql'), sql);
  return migrations;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-rollout-'));
  const name = `rollout_${process.pid}_${++number}`;
  const admin = new pg.Client(inject('databaseUrl'));
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  databaseUrl = url.href;
});

afterEach(async () => {
  await Promise.all(running.splice(0).map(({ process }) => process.terminate()));
  await rm(folder, { recursive: true });
});

describe('a control plane of this release', () => {
  const readiness = async ({ process }: ControlPlane) => {
    const response = await fetch(`${process.opsUrl}/readyz`).catch(() => null);
    return response === null ? '' : `${response.status} ${await response.text()}`;
  };

  it('waits for migrations that run at the same time, and logs it', async () => {
    const controlPlane = await spawn({ SCHEMA_WAIT_S: '600' });
    await expect
      .poll(() => readiness(controlPlane))
      .toContain(
        '503 starting: waits for migrations: the database has no schema yet: run node tools/dist/migrate.js',
      );
    await expect
      .poll(() => controlPlane.process.running.lastLines().join())
      .toContain('waiting for migrations');
    await migrate({ databaseUrl, folder: MIGRATIONS });
    await controlPlane.started;
    expect(await playBasicCalls(controlPlane)).toEqual([]);
  });

  it('exits with one line when the migrations are not applied in time', async () => {
    const controlPlane = await spawn({ SCHEMA_WAIT_S: '0' });
    expect(await controlPlane.process.running.exited).toEqual({ code: 1 });
    expect(controlPlane.process.running.lastLines()).toEqual([
      'control-plane: the database has no schema yet: run node tools/dist/migrate.js',
    ]);
  });

  it('keeps working while a later release expands the schema, and starts on the expanded schema', async () => {
    await migrate({ databaseUrl, folder: MIGRATIONS });
    const controlPlane = await start();
    expect(checkMigration(EXPANDING, [NEXT])).toEqual([]);
    await migrate({ databaseUrl, folder: await withNext(EXPANDING) });
    expect(await playBasicCalls(controlPlane)).toEqual([]);
    expect(await playBasicCalls(await start())).toEqual([]);
    // As the rollback of a release does.
    expect(await migrate({ databaseUrl, folder: MIGRATIONS })).toEqual([]);
  });

  it.each([
    'ALTER TABLE profile RENAME white_list_only TO lists_only',
    'ALTER TABLE schedule ADD zone text NOT NULL',
    'DROP TABLE napt_assignment',
  ])('fails its calls, as a test of releases must see, after: %s', async (sql) => {
    await migrate({ databaseUrl, folder: await withNext(sql) });
    expect(await playBasicCalls(await start())).not.toEqual([]);
  });

  it('does not start when a later release has removed something that it needs', async () => {
    const contracting = `DROP TABLE schedule; UPDATE schema_compatibility SET min_migration = '${NEXT}'`;
    await migrate({ databaseUrl, folder: await withNext(contracting) });
    const controlPlane = await spawn({});
    expect(await controlPlane.process.running.exited).toEqual({ code: 1 });
    expect(controlPlane.process.running.lastLines().at(-1)).toContain(
      `control-plane: the database is for releases that know migration ${NEXT}, the newest one here is `,
    );
  });
});

const previous = findPreviousRelease(ROOT);
const same = 'no migration was added since';
const none = 'none' in previous ? previous.none : previous.hasOlderSchema ? null : same;

if (none !== null) process.stdout.write(`there is no previous release to test: ${none}\n`);
else {
  describe('the control plane of the previous release, on the schema of this one', () => {
    let clone: string;
    beforeAll(async () => {
      clone = await cloneRelease(ROOT, (previous as { commit: string }).commit);
    }, 900_000);

    it('serves', async () => {
      await migrate({ databaseUrl, folder: MIGRATIONS });
      expect(await playBasicCalls(await start(clone))).toEqual([]);
    });

    it('serves beside this release, and each reads what the other has written', async () => {
      await migrate({ databaseUrl, folder: join(clone, 'prisma/migrations') });
      const old = await start(clone);
      expect(await playBasicCalls(old)).toEqual([]);
      await migrate({ databaseUrl, folder: MIGRATIONS });
      expect(await playSharedCalls(old, await start())).toEqual([]);
    });
  });
}
