import type { ChangePublisher } from '@weir/change-feed';
import type { Logger } from '@weir/ops';
import type { Database } from '../platform/database/database.js';
import { withTimeout } from '../platform/database/with-timeout.js';
import type { SchemaCheck } from '../platform/database/schema-check.js';
import type { HashKeyCheck } from '../resources/domain-lists/hash-key-check.js';
import { describeDatabaseError } from '../platform/database/database-errors.js';

export interface ReadinessOptions {
  readonly database: Pick<Database, 'probe'>;
  readonly schema: Pick<SchemaCheck, 'fault'>;
  readonly keyCheck: Pick<HashKeyCheck, 'fault'>;
  readonly publisher: Pick<ChangePublisher, 'connected'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Longest that PostgreSQL may take to answer. */
  readonly timeoutMs?: number;
}

/**
 * Whether this replica can serve. It needs PostgreSQL and can do without Redis (decisions §10). An error of
 * PostgreSQL may name hosts, users and statements, so it goes to the log, once for as long as it stays the same.
 */
export class Readiness {
  private asking: Promise<string | null> | null = null;
  private logged: string | null = null;

  constructor(private readonly options: ReadinessOptions) {}

  /** Why it cannot serve, in plain words; null when it can. Who asks while somebody else does gets the same answer. */
  async notReady(): Promise<string | null> {
    this.asking ??= this.ask().finally(() => (this.asking = null));
    return withTimeout(this.asking, 'PostgreSQL does not answer', this.options.timeoutMs);
  }

  /** What does not work while it serves. */
  degraded(): readonly string[] {
    return this.options.publisher.connected ? [] : ['Redis is out of reach'];
  }

  private async ask(): Promise<string | null> {
    const { database, schema, keyCheck } = this.options;
    try {
      await database.probe();
      const fault = (await schema.fault()) ?? (await keyCheck.fault());
      this.note(fault);
      return fault;
    } catch (error) {
      this.note(String(error));
      return describeDatabaseError(error);
    }
  }

  private note(reason: string | null): void {
    if (reason === this.logged) return;
    this.logged = reason;
    if (reason === null) this.options.log.info({}, 'ready');
    else this.options.log.warn({ reason }, 'not ready');
  }
}
