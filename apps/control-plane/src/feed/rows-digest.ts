import { Digest, ENTITY_KINDS } from '@weir/config-model';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { SNAPSHOT_TABLES } from './entity-tables.js';

/**
 * The digest of all rows, computed anew. It must be that of the head.
 * @param pages reads the rows of a query, some at a time, all queries at one revision.
 * @throws the reason of `signal` between two pages.
 */
export async function digestOfRows(
  pages: (sql: string) => AsyncIterable<readonly unknown[]>,
  signal?: AbortSignal,
): Promise<string> {
  const digest = new Digest();
  for (const kind of ENTITY_KINDS) {
    const table = SNAPSHOT_TABLES[kind];
    for await (const page of pages(table.sql)) {
      signal?.throwIfAborted();
      for (const row of page) digest.add(kind, table.toRow(row));
      await yieldToEventLoop();
    }
  }
  return digest.toString();
}
