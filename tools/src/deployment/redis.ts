import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedis } from '../services/redis.js';

export interface DeploymentRedisOptions {
  /** Its data is in a folder with this name and the port. */
  readonly folder: string;
  readonly logFile: string;
  readonly port: number;
  /** Of the replica that takes over. */
  readonly standbyPort: number;
  readonly password: string;
}

/** The Redis of a deployment, which keeps no data, and can be killed or replaced by a replica. */
export class DeploymentRedis {
  /** Of the server that is in use. */
  port: number;
  private standbyPort: number;
  private server: RedisServer | null = null;

  constructor(private readonly options: DeploymentRedisOptions) {
    this.port = options.port;
    this.standbyPort = options.standbyPort;
  }

  async start(): Promise<void> {
    this.server = await this.startAt(this.port);
  }

  async kill(): Promise<void> {
    await this.server?.child.stop('SIGKILL');
    this.server = null;
  }

  /** Kills Redis, and makes a replica of it the new one, at another port. */
  async failOver(): Promise<void> {
    const [before, standby] = [this.port, this.standbyPort];
    const replica = await this.startAt(standby, before);
    const client = new Redis(replica.url);
    try {
      while (!(await client.info('replication')).includes('master_link_status:up')) await sleep(20);
      await this.kill();
      await client.replicaof('NO', 'ONE');
    } finally {
      client.disconnect();
    }
    [this.port, this.standbyPort] = [standby, before];
    this.server = replica;
  }

  private startAt(port: number, replicaOf?: number): Promise<RedisServer> {
    const { folder, logFile, password } = this.options;
    return startRedis({
      dataDir: `${folder}-${port}`,
      logFile,
      port,
      password,
      ...(replicaOf !== undefined && { replicaOf }),
    });
  }
}
