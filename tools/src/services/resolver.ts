import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from './child.js';
import { HASH_KEY, waitUntilReady } from './control-plane.js';
import { freePort } from './ports.js';

export interface ResolverProcess {
  readonly child: Child;
  readonly port: number;
  /** Waits until it is ready. @throws Error with its last lines when it exited or the deadline passed. */
  readonly ready: (withinMs: number) => Promise<void>;
}

export interface ResolverOptions {
  /** The repository's root. */
  readonly root: string;
  /** Holds its data and its log; whatever an earlier process left there is used. */
  readonly folder: string;
  readonly redisUrl: string;
  readonly feedUrl: string;
  readonly feedToken: string;
  /** Additional variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Command in front of the resolver's. */
  readonly prefix?: readonly string[];
}

/** Starts a built resolver with one lane, otherwise as it is shipped, without waiting for it. */
export async function spawnResolver(options: ResolverOptions): Promise<ResolverProcess> {
  const { root, folder, prefix } = options;
  mkdirSync(folder, { recursive: true });
  const [port, opsPort] = [await freePort(), await freePort()];
  const child = startChild({
    name: 'resolver',
    command: process.execPath,
    args: [join(root, 'apps/resolver/dist/main.js')],
    env: {
      PATH: process.env['PATH'],
      RESOLVER_THREADS: '1',
      REDIS_URL: options.redisUrl,
      FEED_URL: options.feedUrl,
      FEED_TOKEN: options.feedToken,
      DOMAIN_HASH_KEY: HASH_KEY,
      DATA_DIR: join(folder, 'data'),
      DNS_HOST: '127.0.0.1',
      DNS_PORT: String(port),
      OPS_PORT: String(opsPort),
      LOG_LEVEL: 'warn',
      ...options.variables,
    },
    logFile: join(folder, 'log'),
    ...(prefix !== undefined && { prefix }),
  });
  return {
    child,
    port,
    ready: (withinMs) => waitUntilReady(`http://127.0.0.1:${opsPort}`, child, withinMs),
  };
}
