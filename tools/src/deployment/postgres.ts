import { execFile } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { type PostgresServer, startPostgres } from '../services/postgres.js';

const run = promisify(execFile);

export interface DeploymentPostgresOptions {
  readonly folder: string;
  readonly logFile: string;
  readonly port: number;
  /** Whether it syncs to disk, as in production. */
  readonly fsync: boolean;
}

/** The PostgreSQL of a deployment, which can be stopped, killed and taken back to an earlier state. */
export class DeploymentPostgres {
  /** Empty before the first start. */
  url = '';
  private server: PostgresServer | null = null;

  constructor(private readonly options: DeploymentPostgresOptions) {}

  async start(): Promise<void> {
    const { folder, logFile, port, fsync } = this.options;
    const settings = fsync ? [] : ['fsync=off'];
    this.server = await startPostgres({ dataDir: folder, logFile, port, settings });
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

  /** Stops for a moment, and keeps a copy of the data. */
  async copy(): Promise<void> {
    await this.stop('SIGINT');
    rmSync(this.copyFolder, { recursive: true, force: true });
    await run('cp', ['--archive', this.options.folder, this.copyFolder]);
    await this.start();
  }

  /** Goes on with the copy: what was committed since is lost. So does a failover to a replica that lags behind. */
  async revert(): Promise<void> {
    await this.stop('SIGQUIT');
    rmSync(this.options.folder, { recursive: true });
    renameSync(this.copyFolder, this.options.folder);
    await this.start();
  }

  private get copyFolder(): string {
    return `${this.options.folder}-copy`;
  }
}
