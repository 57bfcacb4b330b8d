import pg from 'pg';

/** A connection to the database of a run, from which only queries fail: faults and the end of the run break it off. */
export async function connectDatabase(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client(databaseUrl);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
