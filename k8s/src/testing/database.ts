import pg from 'pg';

/** An empty database of its own on the server of `adminUrl`. */
export async function createDatabase(
  adminUrl: string,
  name: string,
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const run = async (statement: string): Promise<void> => {
    const client = new pg.Client(adminUrl);
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await run(`CREATE DATABASE ${name}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
}
