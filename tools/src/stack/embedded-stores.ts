import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Child } from '../services/child.js';
import { startPostgres } from '../services/postgres.js';
import { startRedis } from '../services/redis.js';

export interface EmbeddedStoreOptions {
  readonly dataDir: string;
  readonly logFile: (name: string) => string;
  /** Called before a step that takes long. */
  readonly onProgress: (text: string) => void;
}

interface Server {
  readonly url: string;
  readonly child: Child;
}

/**
 * A store that the stack starts itself. Other processes get its URL only once, so a restart uses the same port and
 * password.
 */
export class EmbeddedStore {
  private first: Server | null = null;

  /** @param startServer with undefined as the port it takes a free one. */
  constructor(
    readonly name: string,
    readonly title: string,
    private readonly startServer: (port: number | undefined) => Promise<Server>,
  ) {}

  /** The URL. @throws Error before the first start. */
  get url(): string {
    if (this.first === null) throw new Error(`${this.title} was not started`);
    return this.first.url;
  }

  async start(): Promise<Child> {
    const port = this.first === null ? undefined : Number(new URL(this.first.url).port);
    const server = await this.startServer(port);
    this.first ??= server;
    return server.child;
  }
}

export function embeddedPostgres({ dataDir, logFile }: EmbeddedStoreOptions): EmbeddedStore {
  const options = { dataDir: join(dataDir, 'postgres'), logFile: logFile('postgres') };
  return new EmbeddedStore('postgres', 'PostgreSQL', (port) => startPostgres({ ...options, port }));
}

export function embeddedRedis({
  dataDir,
  logFile,
  onProgress,
}: EmbeddedStoreOptions): EmbeddedStore {
  const password = randomBytes(24).toString('hex');
  const options = { dataDir: join(dataDir, 'redis'), logFile: logFile('redis'), onProgress };
  return new EmbeddedStore('redis', 'Redis', (port) => startRedis({ ...options, password, port }));
}
