import { StartError } from '@weir/ops';
import { Redis } from 'ioredis';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from './child.js';
import { createFolder } from './files.js';
import { ExitedError, startOnPort } from './ports.js';

/** Disposing of it stops it. */
export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly child: Child;
}

interface RedisOptions {
  readonly dataDir: string;
  readonly logFile: string;
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Default: a random one. */
  readonly password?: string;
  /** Port of the Redis, with the same password, whose replica it is. */
  readonly replicaOf?: number | undefined;
  /** Called before a step that takes long. */
  readonly onProgress?: (text: string) => void;
}

/** Long, because a busy machine may starve a process that starts. */
const READY_DEADLINE_MS = 90_000;
const RETRY_MS = 30;

/** Starts a private Redis on loopback. It writes nothing to disk: Weir can lose everything in Redis. */
export async function startRedis(options: RedisOptions): Promise<RedisServer> {
  const { dataDir, logFile, replicaOf, password = randomBytes(24).toString('hex') } = options;
  const command = findServer() ?? install(options.onProgress);
  createFolder(dataDir);
  return startOnPort(options.port, async (port) => {
    const settings = [
      ...['bind 127.0.0.1', `port ${port}`, `requirepass ${password}`, `dir "${dataDir}"`],
      ...['save ""', 'appendonly no', 'maxmemory-policy noeviction', 'daemonize no'],
    ];
    if (replicaOf !== undefined)
      settings.push(`replicaof 127.0.0.1 ${replicaOf}`, `masterauth ${password}`);
    const file = join(dataDir, 'redis.conf');
    writeFileSync(file, `${settings.join('\n')}\n`, { mode: 0o600 });
    const child = startChild({ command, args: [file], env: process.env, logFile });
    const url = `redis://:${password}@127.0.0.1:${port}`;
    await waitUntilListening(child, url);
    return { url, port, child, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
  });
}

/** `redis-server` of any folder, else `valkey-server`. */
function findServer(): string | undefined {
  const env = { PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/usr/local/bin` };
  const script = 'command -v redis-server || command -v valkey-server';
  return (
    spawnSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).stdout?.trim() || undefined
  );
}

function install(onProgress?: (text: string) => void): string {
  const help =
    'install Redis (Debian: apt-get install redis-server) or set REDIS_URL to a running one';
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new StartError(`there is no redis-server on PATH: ${help}`);
  }
  onProgress?.('Installing Redis (apt-get install redis-server)');
  // RUNLEVEL=1 prevents the package from starting its service.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const aptGet = (...args: string[]) => spawnSync('apt-get', args, { env, encoding: 'utf8' });
  const packages = ['install', '-y', '--no-install-recommends', 'redis-server'];
  let result = aptGet(...packages);
  if (result.status !== 0) {
    aptGet('update');
    result = aptGet(...packages);
  }
  const found = findServer();
  if (found === undefined)
    throw new StartError(`Redis could not be installed: ${help}\n${result.stderr}`);
  return found;
}

/** @throws StartError when it does not answer in time, an ExitedError when it has exited */
async function waitUntilListening(child: Child, url: string): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => RETRY_MS, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  const late = sleep(READY_DEADLINE_MS, 'late', { ref: false });
  try {
    // Another server on this port refuses the password; then this one exits.
    const first = await Promise.race([client.ping().catch(() => child.exited), child.exited, late]);
    if (first === 'PONG') return;
    const text = ['Redis does not start:', ...child.lastLines()].join('\n  ');
    throw first === 'late' ? new StartError(text) : new ExitedError(text);
  } finally {
    client.disconnect();
  }
}
