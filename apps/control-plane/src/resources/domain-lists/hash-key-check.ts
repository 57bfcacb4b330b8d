import { hashDomain, type HashKey } from '@weir/dns-name';
import { StartError } from '@weir/ops';
import { isDatabaseUnreachable } from '../../platform/database/database-errors.js';
import type { Database } from '../../platform/database/database.js';

/** A name that nobody can register (RFC 6761 §6.4), so its hash reveals nothing. */
const CHECKED_NAME = 'domain-hash-key.invalid';

const MISMATCH =
  'DOMAIN_HASH_KEY is not the key of this database: no domain rule in it would match. ' +
  'Set the former key, or start with an empty database';

/**
 * Checks that a database is always used with the same DOMAIN_HASH_KEY. The first start stores the hash of a fixed name,
 * and every later start compares it. A wrong key would not be noticed otherwise, because domains are not stored.
 */
export class HashKeyCheck {
  private isSame = false;

  constructor(
    private readonly database: Database,
    private readonly key: HashKey,
  ) {}

  /** @throws StartError when the key is wrong. When the database is out of reach, `problem` checks again later. */
  async checkAtStart(): Promise<void> {
    try {
      const problem = await this.problem();
      if (problem !== null) throw new StartError(problem);
    } catch (error) {
      if (!isDatabaseUnreachable(error)) throw error;
    }
  }

  /** Why this process must not serve; null when the key is right. It queries the database until it was right once. */
  async problem(): Promise<string | null> {
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
