import { hashDomain, type HashKey } from '@weir/dns-name';
import { StartError } from '@weir/ops';
import type { Database } from '../../platform/database/database.js';
import { isDatabaseUnreachable } from '../../platform/database/database-errors.js';

/** A name that nobody can own (RFC 6761 §6.4), so that its hash gives nothing away. */
const CHECKED_NAME = 'domain-hash-key.invalid';

const MISMATCH =
  'DOMAIN_HASH_KEY is not the key of this database: every domain rule in it would match nothing. Give the former key, or start with an empty database';

/**
 * Holds a deployment to one DOMAIN_HASH_KEY: the first start notes the hash of a fixed name in the database, and every
 * later one compares. Nothing but this would show that the key was lost, for domains are not stored.
 */
export class HashKeyCheck {
  private isSame = false;

  constructor(
    private readonly database: Database,
    private readonly key: HashKey,
  ) {}

  /** @throws StartError when the key is another one. A database that is out of reach is asked again by `fault`. */
  async atStart(): Promise<void> {
    try {
      const fault = await this.fault();
      if (fault !== null) throw new StartError(fault);
    } catch (error) {
      if (!isDatabaseUnreachable(error)) throw error;
    }
  }

  /** Why this process must not serve, or null; asks the database until the key was found to be the same once. */
  async fault(): Promise<string | null> {
    if (this.isSame) return null;
    const hash = hashDomain(CHECKED_NAME, this.key);
    const { pool } = this.database;
    await pool.query(
      'UPDATE config_head SET domain_hash_check = $1 WHERE domain_hash_check IS NULL',
      [hash],
    );
    const { rowCount } = await pool.query('SELECT FROM config_head WHERE domain_hash_check = $1', [
      hash,
    ]);
    this.isSame = rowCount === 1;
    return this.isSame ? null : MISMATCH;
  }
}
