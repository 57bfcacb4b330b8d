import { join } from 'node:path';
import { migrate } from '../migrate/migrate.js';
import { type ControlPlaneProcess, startControlPlane } from '../services/control-plane.js';
import { startPostgres } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';
import { ApiClient } from './api-client.js';

export interface Stores {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** The postmaster, whose children serve the connections. */
  readonly postgresPid: number;
  readonly redisPid: number;
  readonly stop: () => Promise<void>;
}

export interface BenchServices extends Stores {
  readonly controlPlane: ControlPlaneProcess;
  readonly client: ApiClient;
}

/** Starts a migrated PostgreSQL and a Redis, with data and logs in the folder. */
export async function startStores(root: string, folder: string): Promise<Stores> {
  const [postgres, redis] = await Promise.all([
    startPostgres({ dataDir: join(folder, 'postgres'), logFile: join(folder, 'postgres.log') }),
    startRedis({ dataDir: join(folder, 'redis'), logFile: join(folder, 'redis.log') }),
  ]);
  await migrate({ databaseUrl: postgres.url, folder: join(root, 'prisma/migrations') });
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    postgresPid: postgres.child.pid,
    redisPid: redis.child.pid,
    stop: async () => {
      await Promise.all([postgres.stop(), redis.stop()]);
    },
  };
}

/** The same with a control plane. @param variables additional ones of the control plane */
export async function startServices(
  root: string,
  folder: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<BenchServices> {
  const stores = await startStores(root, folder);
  const controlPlane = await startControlPlane({ root, folder, variables, ...stores });
  return {
    ...stores,
    controlPlane,
    client: new ApiClient(controlPlane.url, controlPlane.token),
    stop: async () => {
      await controlPlane.stop();
      await stores.stop();
    },
  };
}
