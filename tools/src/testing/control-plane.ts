import { freePort } from '@weir/ops/testing';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { WeirProcess } from '../services/weir-process.js';

export interface ControlPlane {
  readonly url: string;
  /** Token of the management API and of the feed API. */
  readonly token: string;
  readonly process: WeirProcess;
  /** Until it is ready. Rejects when it exited or the time is over. */
  readonly started: Promise<void>;
}

interface ControlPlaneOptions {
  /** The repository's root. */
  readonly root: string;
  /** The folder of its log. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Additional variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Starts a built control plane, and waits until it is ready. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const controlPlane = await spawnControlPlane(options);
  await controlPlane.started;
  return controlPlane;
}

/** Starts a built control plane without waiting for it. */
export async function spawnControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { root, folder, databaseUrl, redisUrl } = options;
  const [port, feedPort] = [await freePort(), await freePort()];
  const token = randomBytes(16).toString('hex');
  const process = new WeirProcess({
    ...{ name: 'control-plane', app: 'control-plane', root, opsPort: await freePort() },
    logFile: join(folder, 'control-plane.log'),
    onUnexpectedExit: () => undefined,
    environment: () => ({
      LOG_LEVEL: 'warn',
      DOMAIN_HASH_KEY: '000102030405060708090a0b0c0d0e0f',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      MANAGEMENT_PORT: String(port),
      MANAGEMENT_TOKENS: token,
      FEED_PORT: String(feedPort),
      FEED_TOKENS: token,
      CATALOGUE: join(root, 'catalogue'),
      ...options.variables,
    }),
  });
  const started = process.start();
  started.catch(() => undefined);
  return { url: `http://127.0.0.1:${port}`, token, process, started };
}
