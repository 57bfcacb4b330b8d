import type { OnModuleInit } from '@nestjs/common';
import { hashDomain, type HashKey } from '@weir/dns-name';
import { StartError } from '@weir/ops';
import {
  DatabaseMismatchError,
  isDatabaseUnreachable,
} from '../platform/database/database-errors.js';
import type { Database } from '../platform/database/database.js';
import type { SchemaCheck } from '../platform/database/schema-check.js';

/** A name that nobody can register (RFC 6761 §6.4), so its hash reveals nothing. */
const CHECKED_NAME = 'domain-hash-key.invalid';

const KEY_MISMATCH =
  'DOMAIN_HASH_KEY is not the key of this database: no domain rule in it would match. ' +
  'Set the former key, or start with an empty database';

/** How a start waits for pending migrations. */
export interface SchemaWait {
  readonly waitMs: number;
  /** Called with the reason of the wait. */
  readonly onWait: (reason: string) => void;
}

/**
 * Whether this process may work with the database: the schema must be known to this release, and DOMAIN_HASH_KEY must
 * always be the same. The first start stores the hash of a fixed name, and every later start compares it. A wrong key
 * would not be noticed otherwise, because domains are not stored.
 */
export class DatabaseCheck implements OnModuleInit {
  private isSameKey = false;

  constructor(
    private readonly database: Database,
    private readonly schema: SchemaCheck,
    private readonly key: HashKey,
    private readonly wait: SchemaWait,
  ) {}

  /** @throws StartError when it may not. When the database is out of reach, `problem` checks again later. */
  async onModuleInit(): Promise<void> {
    await this.schema.checkAtStart(this.wait.waitMs, this.wait.onWait);
    try {
      const problem = await this.keyProblem();
      if (problem !== null) throw new StartError(problem);
    } catch (error) {
      if (!isDatabaseUnreachable(error)) throw error;
    }
  }

  /** Why this process must not serve; null when it may. It queries the database until it may once. */
  async problem(): Promise<string | null> {
    return (await this.schema.problem()) ?? this.keyProblem();
  }

  /** PostgreSQL may come later than the start. @throws DatabaseMismatchError when this process must not serve. */
  async admit(): Promise<void> {
    const problem = await this.problem();
    if (problem !== null) throw new DatabaseMismatchError(problem);
  }

  private async keyProblem(): Promise<string | null> {
    if (this.isSameKey) return null;
    const hash = hashDomain(CHECKED_NAME, this.key);
    const { pool } = this.database;
    await pool.query(
      'UPDATE config_head SET domain_hash_check = $1 WHERE domain_hash_check IS NULL',
      [hash],
    );
    const { rowCount } = await pool.query('SELECT FROM config_head WHERE domain_hash_check = $1', [
      hash,
    ]);
    this.isSameKey = rowCount === 1;
    return this.isSameKey ? null : KEY_MISMATCH;
  }
}
