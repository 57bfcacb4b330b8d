import type { ChangePublisher } from '@weir/change-feed';
import type { Logger } from '@weir/ops';
import type { NamedGroup } from '../catalogue/store/definition-store.js';
import { describeDatabaseError } from '../platform/database/database-errors.js';
import type { Database } from '../platform/database/database.js';
import { withTimeout } from '../platform/database/with-timeout.js';

export interface ReadinessOptions {
  readonly database: Pick<Database, 'probe'>;
  /** Why this process must not work with the database; null when it may. */
  readonly databaseProblem: () => Promise<string | null>;
  readonly publisher: Pick<ChangePublisher, 'connected'>;
  /** The categories that have only sample names. */
  readonly readSamples: () => Promise<readonly Pick<NamedGroup, 'id' | 'name' | 'secret'>[]>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Longest time to wait for PostgreSQL. */
  readonly timeoutMs?: number;
}

/**
 * Whether this replica can serve. It needs PostgreSQL, but not Redis (decisions §10). An error of PostgreSQL may name
 * hosts, users and statements, so it is only logged, and only when it changes.
 */
export class Readiness {
  private checking: Promise<string | null> | null = null;
  private logged: string | null = null;

  constructor(private readonly options: ReadinessOptions) {}

  /** Why this replica cannot serve; null when it can. Concurrent calls share one check. */
  async notReady(): Promise<string | null> {
    this.checking ??= this.check().finally(() => (this.checking = null));
    return withTimeout(this.checking, 'PostgreSQL does not answer', this.options.timeoutMs);
  }

  /** What does not work although this replica serves. */
  async degraded(): Promise<readonly string[]> {
    const { publisher, readSamples, timeoutMs } = this.options;
    const samples = await withTimeout(readSamples(), [], timeoutMs).catch(() => []);
    const names = samples
      .map(({ id, name, secret }) => (secret ? `${id}` : `${id} ${name}`))
      .join(', ');
    return [
      ...(publisher.connected ? [] : ['Redis is out of reach']),
      ...(names === ''
        ? []
        : [`only sample names in ${names}; weir catalogue sets tells what to turn on`]),
    ];
  }

  private async check(): Promise<string | null> {
    const { database, databaseProblem } = this.options;
    try {
      await database.probe();
      const problem = await databaseProblem();
      this.logChange(problem);
      return problem;
    } catch (error) {
      this.logChange(String(error));
      return describeDatabaseError(error);
    }
  }

  private logChange(reason: string | null): void {
    if (reason === this.logged) return;
    this.logged = reason;
    if (reason === null) this.options.log.info({}, 'ready');
    else this.options.log.warn({ reason }, 'not ready');
  }
}
