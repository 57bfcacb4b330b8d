import { StartError } from '@weir/ops';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import { reasonOf } from './connection.js';

/** Tables that tell which migrations are applied. A control plane only reads them. */
const LOG_TABLES = ['_prisma_migrations', 'schema_compatibility'];
/** Turns off the checks of foreign keys row by row, for POST /init/. */
const CHECKS = 'session_replication_role';
/** invalid_password, which an unknown role gets too, and invalid_authorization_specification. */
const REFUSED = new Set(['28P01', '28000']);
const ITERATIONS = 4096;

/** The role with which control planes connect, while another one owns the tables. It reads and writes rows, no more. */
export class RuntimeRole {
  private readonly name: string;

  private constructor(
    private readonly owner: pg.Client,
    private readonly user: pg.Client,
  ) {
    this.name = owner.escapeIdentifier(user.user ?? '');
  }

  /**
   * Creates the role of `databaseUrl` if it is missing. If it cannot log in with the password of the URL, it gets that
   * password. Tables that are made from now on are open to it.
   * @returns null when it is the owner itself.
   * @throws StartError when the owner may not do that, or the database cannot be reached with that URL.
   */
  static async prepare(owner: pg.Client, databaseUrl: string): Promise<RuntimeRole | null> {
    const user = new pg.Client(databaseUrl);
    if (user.user === owner.user) return null;
    const role = new RuntimeRole(owner, user);
    if (!(await role.canLogIn())) await role.setPassword();
    const [{ schema }] = await role.read<{ schema: string }>(
      'SELECT quote_ident(current_schema()) AS schema',
    );
    const defaults = `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT`;
    await role.run([
      `GRANT USAGE ON SCHEMA ${schema} TO ${role.name}`,
      `${defaults} ${await role.tableRights()} ON TABLES TO ${role.name}`,
      `${defaults} USAGE ON SEQUENCES TO ${role.name}`,
    ]);
    return role;
  }

  /** Grants what a control plane needs on the tables that there are, and nothing else on them. */
  async grant(): Promise<void> {
    const [{ database, mayGrantOn }] = await this.read<{ database: string; mayGrantOn: boolean }>(`
      SELECT quote_ident(current_database()) AS database,
             has_parameter_privilege('${CHECKS}', 'SET WITH GRANT OPTION') AS "mayGrantOn"`);
    // Those of extensions belong to others.
    const relations = await this.read<{ name: string; isTable: boolean }>(`
      SELECT oid::regclass::text AS name, relkind = 'r' AS "isTable" FROM pg_class
      WHERE relkind IN ('r', 'S') AND relnamespace = current_schema()::regnamespace
      AND pg_has_role(relowner, 'USAGE')`);
    const rights = await this.tableRights();
    const rightsOn = (name: string) => (LOG_TABLES.includes(name) ? 'SELECT' : rights);
    await this.run([
      `GRANT CONNECT, TEMPORARY ON DATABASE ${database} TO ${this.name}`,
      ...relations.flatMap(({ name, isTable }) =>
        isTable
          ? [
              `REVOKE ALL ON ${name} FROM ${this.name}`,
              `GRANT ${rightsOn(name)} ON ${name} TO ${this.name}`,
            ]
          : [`GRANT USAGE ON SEQUENCE ${name} TO ${this.name}`],
      ),
      ...(mayGrantOn ? [`GRANT SET ON PARAMETER ${CHECKS} TO ${this.name}`] : []),
    ]);
  }

  private async canLogIn(): Promise<boolean> {
    this.user.on('error', () => undefined);
    try {
      await this.user.connect();
      return true;
    } catch (cause) {
      if (REFUSED.has((cause as { code?: string }).code ?? '')) return false;
      const reason = reasonOf(cause);
      throw new StartError(`the database cannot be reached: ${reason} (DATABASE_URL)`, { cause });
    } finally {
      await this.user.end().catch(() => undefined);
    }
  }

  private async setPassword(): Promise<void> {
    const { user, password } = this.user;
    const { rowCount } = await this.owner.query('SELECT FROM pg_roles WHERE rolname = $1', [user]);
    const verifier = scramVerifier(password ?? '');
    const verb = rowCount === 0 ? 'CREATE' : 'ALTER';
    await this.run([`${verb} ROLE ${this.name} LOGIN PASSWORD '${verifier}'`]);
  }

  /** ANALYZE has a right of its own since PostgreSQL 17. Before, PostgreSQL skips it for all but the owner. */
  private async tableRights(): Promise<string> {
    const [{ version }] = await this.read<{ version: number }>(
      "SELECT current_setting('server_version_num')::int AS version",
    );
    return `SELECT, INSERT, UPDATE, DELETE${version >= 170_000 ? ', MAINTAIN' : ''}`;
  }

  private async read<R extends object>(sql: string): Promise<R[]> {
    return (await this.owner.query<R>(sql)).rows;
  }

  /** Runs statements in one transaction. */
  private async run(statements: readonly string[]): Promise<void> {
    try {
      await this.owner.query(statements.join('; '));
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new StartError(`the role ${this.name} cannot get its rights: ${reason}`, { cause });
    }
  }
}

/** What PostgreSQL stores of a password (RFC 5803), so that the statement, which may be logged, does not have it. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const serverKey = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
