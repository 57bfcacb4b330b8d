import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type { Logger } from '@weir/ops';
import pg from 'pg';
import type { Client, Pool, PoolClient } from 'pg';
import { Histogram } from 'prom-client';
import { PrismaClient } from '../../generated/prisma/client.js';
import { beginSession, connectionSettings, sessionQuestions } from './connections.js';
import { Transaction, withConnection } from './transaction.js';
import { withTimeout } from './with-timeout.js';

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** A pool that measures how long requests wait for a connection. */
class TimedPool extends pg.Pool {
  constructor(
    private readonly name: string,
    config: pg.PoolConfig,
    private readonly waits: Histogram<'pool'>,
  ) {
    super(config);
    waits.zero({ pool: name });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | void {
    const end = this.waits.startTimer({ pool: this.name });
    if (callback === undefined) return super.connect().finally(() => end());
    super.connect((error, client, release) => {
      end();
      callback(error, client, release);
    });
  }
}

/** Each prepared statement takes memory in every connection of PostgreSQL. */
const MAX_NAMES = 200;
/** The protocol's name for a statement that is not kept: it is parsed and planned each time. */
const UNNAMED = '';

/** Names the first distinct statements, so that a connection prepares each once. Texts differ by lengths of lists. */
export function namedStatements(): (query: { readonly sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= MAX_NAMES) return UNNAMED;
    const name = `weir_${names.size}`;
    names.set(sql, name);
    return name;
  };
}

/**
 * SQLSTATEs of a prepared statement whose result type has changed, of one that does not exist any more, and of a
 * session that must not write: it keeps what the database or the role had set when it began.
 */
const STALE = new Set(['0A000', '26000', '25006']);

/** Closes a connection when it is released, if it has given such an error. */
function closeStaleConnections(pool: Pool): void {
  const stale = new WeakSet<PoolClient>();
  pool.on('connect', (client) => {
    client.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code !== undefined && STALE.has(code)) stale.add(client);
    });
  });
  pool.on('release', (_error, client) => {
    // The pool removes a connection that ends.
    if (stale.has(client)) void client.end();
  });
}

/** Connections per replica, besides the one for changes. Slow readers of one kind cannot block the other kinds. */
const MAX_CONNECTIONS = { general: 5, listings: 12, snapshots: 4, jobs: 5, health: 1 };
const WAIT_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/**
 * Longest time that a query waits for a byte while PostgreSQL answers others. The longest statement of a single change
 * takes milliseconds, and the lock of the head a few seconds.
 */
const SILENCE_TIMEOUT_MS = 30_000;
/** Longest time to wait until the connections are closed. */
const CLOSE_TIMEOUT_MS = 1_500;

/** The connections of a replica, and Prisma on top of them. */
export class Database implements OnModuleInit, OnApplicationShutdown {
  /** For short queries. Changes, listings and snapshots have their own connections. */
  readonly pool: pg.Pool;
  /** For lists of the management API. */
  readonly listings: pg.Pool;
  /** For followers that load the whole configuration. */
  readonly snapshots: pg.Pool;
  /** For background jobs: each has a connection while it runs. */
  readonly jobs: pg.Pool;
  /** For health checks, which must not wait for other queries. */
  private readonly health: pg.Pool;
  readonly waits = new Histogram({
    name: 'weir_database_wait_seconds',
    help: 'Wait for a connection to PostgreSQL, by pool; new connections included',
    labelNames: ['pool'],
    buckets: WAIT_BUCKETS_SECONDS,
    registers: [],
  });
  /**
   * A pool of one connection, on which this replica makes its changes. Statements that do not depend on each other's
   * results are sent together (`pipeline`). As long as it is open, its statements stay prepared.
   */
  private readonly changes: pg.Pool;
  private readonly nameOfChange = namedStatements();
  readonly prisma: PrismaClient;
  private readonly pools: pg.Pool[] = [];

  /** @param silenceTimeoutMs see `beginSession`. */
  constructor(url: string, log: Logger, silenceTimeoutMs = SILENCE_TIMEOUT_MS) {
    const connection = connectionSettings(url);
    const ask = sessionQuestions(connection);
    const settings: pg.PoolConfig = {
      ...connection,
      // The pool waits for it, although its type does not say so.
      onConnect: (client): unknown => beginSession(client as Client, ask, silenceTimeoutMs),
    };
    const add = (name: string, config: pg.PoolConfig): pg.Pool => {
      const pool = new TimedPool(name, { ...settings, ...config }, this.waits);
      this.pools.push(pool);
      pool.on('connect', (client) => {
        // A connection may break while it is in use or being handed over. The next query reports it.
        client.on('error', () => undefined);
      });
      closeStaleConnections(pool);
      // An idle connection that breaks is replaced at its next use; without a listener it would end the process.
      pool.on('error', (error) => {
        log.warn({ reason: error.message }, 'a database connection was lost');
      });
      return pool;
    };
    const open = (name: keyof typeof MAX_CONNECTIONS): pg.Pool =>
      add(name, { max: MAX_CONNECTIONS[name] });
    this.pool = open('general');
    this.listings = open('listings');
    this.snapshots = open('snapshots');
    this.jobs = open('jobs');
    this.health = open('health');
    this.changes = add('changes', { max: 1, idleTimeoutMillis: 0, pipeline: true });
    this.prisma = new PrismaClient({
      adapter: new PrismaPg(this.pool, { statementNameGenerator: namedStatements() }),
    });
  }

  /** Loads Prisma's compiler of queries, for which the first read would hold up all other calls. */
  async onModuleInit(): Promise<void> {
    await this.prisma.$connect();
  }

  /**
   * Runs some work on the connection for changes; one at a time. When it throws, the transaction that it left open is
   * rolled back. It must not return before all its queries have ended: a later one would run in the next transaction.
   */
  write<T>(work: (client: pg.PoolClient, tx: Transaction) => Promise<T>): Promise<T> {
    return withConnection(this.changes, (client) =>
      work(client, new Transaction(client, this.nameOfChange)),
    );
  }

  /** The number of connections, of idle ones, or of requests that wait for one. */
  connections(counter: 'totalCount' | 'idleCount' | 'waitingCount'): number {
    return this.pools.reduce((all, pool) => all + pool[counter], 0);
  }

  /** Runs a minimal query. @throws the error of the database when it cannot be used now. */
  async probe(): Promise<void> {
    await this.health.query('SELECT FROM config_head');
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /** Closes all connections. It does not wait for a PostgreSQL that does not answer. */
  async close(): Promise<void> {
    const ended = this.prisma
      .$disconnect()
      .then(() => Promise.all(this.pools.map((it) => it.end())));
    await withTimeout<unknown>(ended, null, CLOSE_TIMEOUT_MS);
  }
}
