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

/**
 * Prepares the role with which control planes connect, while another one owns the tables: it reads and writes rows, no
 * more. Creates the role of `databaseUrl` if it is missing. If it cannot log in with the password of the URL, it gets
 * that password. Tables that are made from now on are open to it.
 * @returns grants what a control plane needs on the tables that there are then, and nothing else on them. Null: the
 * role is the owner itself.
 * @throws StartError when the owner may not do that, or the database cannot be reached with that URL.
 */
export async function prepareRuntimeRole(
  owner: pg.Client,
  databaseUrl: string,
): Promise<(() => Promise<void>) | null> {
  const user = new pg.Client(databaseUrl);
  if (user.user === owner.user) return null;
  const role = owner.escapeIdentifier(user.user ?? '');
  /** Runs statements in one transaction. */
  const run = (statements: readonly string[]) =>
    owner.query(statements.join('; ')).catch((cause: unknown) => {
      throw new StartError(`the role ${role} cannot get its rights: ${reasonOf(cause)}`, { cause });
    });
  if (!(await canLogIn(user))) {
    const known = await owner.query('SELECT FROM pg_roles WHERE rolname = $1', [user.user]);
    const verb = known.rowCount === 0 ? 'CREATE' : 'ALTER';
    await run([`${verb} ROLE ${role} LOGIN PASSWORD '${scramVerifier(user.password ?? '')}'`]);
  }
  // ANALYZE has a right of its own since PostgreSQL 17. Before, PostgreSQL skips it for all but the owner.
  const maintain = `CASE WHEN current_setting('server_version_num')::int >= 170000 THEN ', MAINTAIN' ELSE '' END`;
  type Found = Record<'schema' | 'database' | 'rights', string> & { readonly mayGrantOn: boolean };
  const found = await owner.query<Found>(
    `SELECT quote_ident(current_schema()) AS schema, quote_ident(current_database()) AS database,
       has_parameter_privilege('${CHECKS}', 'SET WITH GRANT OPTION') AS "mayGrantOn",
       'SELECT, INSERT, UPDATE, DELETE' || ${maintain} AS rights`,
  );
  const [{ schema, database, rights, mayGrantOn }] = found.rows;
  const defaults = `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT`;
  await run([
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    `${defaults} ${rights} ON TABLES TO ${role}`,
    `${defaults} USAGE ON SEQUENCES TO ${role}`,
  ]);
  return async () => {
    // Those of extensions belong to others.
    const { rows } = await owner.query<{ name: string; isTable: boolean }>(
      `SELECT oid::regclass::text AS name, relkind = 'r' AS "isTable" FROM pg_class
       WHERE relkind IN ('r', 'S') AND relnamespace = current_schema()::regnamespace
       AND pg_has_role(relowner, 'USAGE')`,
    );
    const grants = rows.flatMap(({ name, isTable }) => {
      if (!isTable) return [`GRANT USAGE ON SEQUENCE ${name} TO ${role}`];
      const given = LOG_TABLES.includes(name) ? 'SELECT' : rights;
      return [`REVOKE ALL ON ${name} FROM ${role}`, `GRANT ${given} ON ${name} TO ${role}`];
    });
    if (mayGrantOn) grants.push(`GRANT SET ON PARAMETER ${CHECKS} TO ${role}`);
    await run([`GRANT CONNECT, TEMPORARY ON DATABASE ${database} TO ${role}`, ...grants]);
  };
}

async function canLogIn(user: pg.Client): Promise<boolean> {
  user.on('error', () => undefined);
  try {
    await user.connect();
    return true;
  } catch (cause) {
    if (REFUSED.has((cause as { code?: string }).code ?? '')) return false;
    const reason = reasonOf(cause);
    throw new StartError(`the database cannot be reached: ${reason} (DATABASE_URL)`, { cause });
  } finally {
    await user.end().catch(() => undefined);
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
