import pg from 'pg';
import { Histogram } from 'prom-client';

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** How long requests wait for a connection, by pool. */
export class PoolWaits {
  readonly metric = new Histogram({
    name: 'weir_database_wait_seconds',
    help: 'Wait for a connection to PostgreSQL, by pool; new connections included',
    labelNames: ['pool'],
    buckets: BUCKETS_SECONDS,
    registers: [],
  });

  /** Opens a pool whose waits are counted under that name. */
  open(name: string, config: pg.PoolConfig): pg.Pool {
    this.metric.zero({ pool: name });
    return new TimedPool(config, (seconds) => {
      this.metric.observe({ pool: name }, seconds);
    });
  }
}

class TimedPool extends pg.Pool {
  constructor(
    config: pg.PoolConfig,
    private readonly onWaited: (seconds: number) => void,
  ) {
    super(config);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | void {
    const startMs = performance.now();
    const end = (): void => {
      this.onWaited((performance.now() - startMs) / 1000);
    };
    if (callback === undefined) return super.connect().finally(end);
    super.connect((error, client, release) => {
      end();
      callback(error, client, release);
    });
  }
}
