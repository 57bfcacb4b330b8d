import { Redis } from 'ioredis';
import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { withConnection } from '../migrate/connection.js';
import { type PostgresServer, startPostgres } from '../services/postgres.js';
import { type RedisServer, startRedis } from '../services/redis.js';

/** The PostgreSQL of a deployment, which can be stopped, killed and taken back to an earlier state. */
export class DeploymentPostgres {
  /** Empty before the first start. */
  url = '';
  private server: PostgresServer | null = null;
  private readonly dataDir: string;
  private readonly copyDir: string;

  /** @param folder of its data and its log. @param fsync whether it syncs to disk, as in production */
  constructor(
    private readonly folder: string,
    readonly port: number,
    private readonly fsync: boolean,
  ) {
    this.dataDir = join(folder, 'postgres');
    this.copyDir = `${this.dataDir}-copy`;
  }

  async start(): Promise<void> {
    const { dataDir, port } = this;
    const logFile = join(this.folder, 'postgres.log');
    const settings = this.fsync ? [] : ['fsync=off'];
    this.server = await startPostgres({ dataDir, logFile, port, settings });
    this.url = this.server.url;
  }

  /** SIGINT is a fast shutdown, SIGQUIT has the effect of a crash. */
  async stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    await this.server?.child.stop(signal, 30_000);
    this.server = null;
  }

  /** SIGKILL for all its processes at once. */
  async kill(): Promise<void> {
    if (this.server === null) return;
    process.kill(-this.server.child.pid, 'SIGKILL');
    await this.stop('SIGQUIT');
  }

  /**
   * Runs statements over a connection of their own, because faults break connections. Several are one transaction.
   * @returns the rows of a single one
   */
  async query<T extends pg.QueryResultRow>(statements: string): Promise<readonly T[]> {
    return (await withConnection(this.url, (client) => client.query<T>(statements))).rows;
  }

  /** Stops for a moment, and keeps a copy of the data. */
  async copy(): Promise<void> {
    await this.stop('SIGINT');
    rmSync(this.copyDir, { recursive: true, force: true });
    await promisify(execFile)('cp', ['--archive', this.dataDir, this.copyDir]);
    await this.start();
  }

  /** Goes on with the copy: what was committed since is lost. So does a failover to a replica that lags behind. */
  async revert(): Promise<void> {
    await this.stop('SIGQUIT');
    rmSync(this.dataDir, { recursive: true });
    renameSync(this.copyDir, this.dataDir);
    await this.start();
  }
}

/** The Redis of a deployment, which keeps no data, and can be killed or replaced by a replica. */
export class DeploymentRedis {
  private server: RedisServer | null = null;

  /**
   * @param folder of its data and its log. @param port of the server that is in use
   * @param standbyPort of the replica that takes over
   */
  constructor(
    private readonly folder: string,
    public port: number,
    private standbyPort: number,
    private readonly password: string,
  ) {}

  /** 0 while it is stopped. */
  get pid(): number {
    return this.server?.child.pid ?? 0;
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
    const { folder, password } = this;
    const dataDir = join(folder, `redis-${port}`);
    return startRedis({ dataDir, logFile: join(folder, 'redis.log'), port, password, replicaOf });
  }
}

/** The folder with the definition of the catalogue. */
export class CatalogueFolder {
  private generation = 0;

  constructor(readonly path: string) {}

  /** Another catalogue: within seconds a control plane compiles and activates its image. */
  renew(): void {
    mkdirSync(this.path, { recursive: true });
    const file = join(this.path, 'catalogue.yaml');
    writeFileSync(`${file}.new`, definition(this.generation++));
    renameSync(`${file}.new`, file);
  }
}

/** So many that a delta is much smaller than the image. */
const NAMES = Array.from({ length: 2_000 }, (_, i) => `listed-${i}.example.net`);

/** Another one, and so another image, for each generation. */
const definition = (generation: number): string => `categories:
  - id: 12
    name: Gambling
    domains: [casino.example.com, casino-${generation}.example.com, ${NAMES.join(', ')}]
applications:
  - id: 3
    name: Video
    domains: [video.example.com]
`;
