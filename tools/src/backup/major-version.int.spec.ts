import { freePort, needsThat } from '@weir/ops/testing';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { migrate } from '../migrate/migrate.js';
import { type PostgresServer, startPostgres } from '../services/postgres.js';
import { restoreBackup } from './restore-backup.js';
import { writeBackup } from './write-backup.js';

const MIGRATIONS = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/** Where Debian keeps each major version. */
const DEBIAN = '/usr/lib/postgresql';
const [debianMajor] = existsSync(DEBIAN)
  ? readdirSync(DEBIAN)
      .filter((major) => existsSync(join(DEBIAN, major, 'bin/postgres')))
      .sort((a, b) => Number(b) - Number(a))
  : [];
const CONFIGURATION = `
  INSERT INTO block_page VALUES (1, 0);
  INSERT INTO profile (id, page_id) VALUES (7, 1);
  INSERT INTO domain_rule SELECT 7, i, 1 + i % 2 FROM generate_series(1, 5000) AS i;
  INSERT INTO ipv4_network (address, prefix_length, profile_id) VALUES ('192.0.2.0', 24, 7);
  UPDATE config_head SET revision = 42, digest = '0123456789abcdef'`;

describe(
  'a configuration in the PostgreSQL of Debian',
  needsThat(debianMajor !== undefined, 'a PostgreSQL server of Debian (postgresql)'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-major-'));
    let old: { readonly url: string; stop(): void };
    let server: PostgresServer;
    const query = async (url: string, sql: string) => {
      const client = new pg.Client(url);
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(sql)).rows;
      } finally {
        await client.end();
      }
    };
    const debian = (command: string, ...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(
        join(DEBIAN, debianMajor, 'bin', command),
        args,
        {
          encoding: 'utf8',
        },
      );
      expect([status, stdout, stderr]).toEqual([0, expect.anything(), '']);
    };
    const contents = async (url: string) =>
      query(
        url,
        `SELECT revision, digest, (SELECT count(*) FROM profile) AS profiles,
           (SELECT sum(domain_hash * verdict) FROM domain_rule) AS rules,
           (SELECT string_agg(host(address) || '/' || prefix_length, ',') FROM ipv4_network) AS networks
         FROM config_head`,
      );
    const lineage = async (url: string) => query(url, 'SELECT lineage FROM config_head');
    const emptyDatabase = async (name: string) => {
      await query(server.url, `CREATE DATABASE ${name}`);
      return server.url.replace(/\/weir$/, `/${name}`);
    };

    beforeAll(async () => {
      chmodSync(folder, 0o755);
      server = await startPostgres({
        dataDir: join(folder, 'new'),
        logFile: join(folder, 'new.log'),
      });
      old = await startDebian(folder);
      await migrate({ databaseUrl: old.url, folder: MIGRATIONS, log: () => undefined });
      await query(old.url, CONFIGURATION);
    });
    afterAll(async () => {
      old.stop();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('is older than that of npm start', async () => {
      const [{ server_version_num: version }] = await query(server.url, 'SHOW server_version_num');
      expect(Math.floor(Number(version) / 10_000)).toBeGreaterThan(Number(debianMajor));
    });

    it('comes into a newer one with its lineage by pg_dump and pg_restore', async () => {
      const dump = join(folder, 'weir.dump');
      debian('pg_dump', '--format=custom', `--file=${dump}`, old.url);
      const url = await emptyDatabase('dumped');
      debian('pg_restore', '--no-owner', '--clean', '--if-exists', `--dbname=${url}`, dump);
      expect(await contents(url)).toEqual(await contents(old.url));
      expect(await lineage(url)).toEqual(await lineage(old.url));
    });

    it('comes into a newer one with a new lineage by a backup of Weir', async () => {
      const file = join(folder, 'weir.backup');
      const { signal } = new AbortController();
      const log = () => undefined;
      await writeBackup(old.url, file, signal);
      const databaseUrl = await emptyDatabase('restored');
      await restoreBackup({ databaseUrl, file, replace: false, folder: MIGRATIONS, log, signal });
      expect(await contents(databaseUrl)).toEqual(await contents(old.url));
      expect(await lineage(databaseUrl)).not.toEqual(await lineage(old.url));
    });

    /** Starts Debian's server as a user that is not root, as the owner of the folder of the other one. */
    async function startDebian(work: string): Promise<typeof old> {
      const { uid, gid } = statSync(join(work, 'new'));
      const binaries = join(DEBIAN, debianMajor, 'bin');
      const data = mkdtempSync(join(tmpdir(), 'weir-debian-'));
      const options = { uid, gid, encoding: 'utf8' } as const;
      spawnSync('chown', [`${uid}:${gid}`, data]);
      const made = spawnSync(
        join(binaries, 'initdb'),
        ['-D', data, '-U', 'weir', '-A', 'trust', '--locale=C.UTF-8', '-E', 'UTF8'],
        options,
      );
      expect([made.status, made.stderr]).toEqual([0, expect.anything()]);
      const port = await freePort();
      const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`];
      const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
      const child = spawn(join(binaries, 'postgres'), args, { uid, gid, stdio: 'ignore' });
      const stop = () => {
        child.kill('SIGINT');
        child.once('exit', () => {
          rmSync(data, { recursive: true, force: true });
        });
      };
      const base = `postgresql://weir@127.0.0.1:${port}`;
      await vi.waitFor(() => query(`${base}/postgres`, 'SELECT 1'), {
        timeout: 120_000,
        interval: 50,
      });
      expect(readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()).toBe(debianMajor);
      await query(`${base}/postgres`, 'CREATE DATABASE weir');
      return { url: `${base}/weir`, stop };
    }
  },
);
