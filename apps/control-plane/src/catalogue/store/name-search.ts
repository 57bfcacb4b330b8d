import { HASH_BYTES, HEADER_BYTES, lineOf, searchNames } from '@weir/catalogue';
import type { SuffixHashes } from '@weir/dns-name';
import type { ClientBase, Pool } from 'pg';
import { inTransaction } from '../../platform/database/transaction.js';
import {
  type DefinitionGroups,
  type NamedGroup,
  readDefinitionGroups,
} from './definition-store.js';

/** The hashes of the first `count` suffixes of a name. */
type Suffixes = Pick<SuffixHashes, 'low' | 'high' | 'count'>;

/** A list of a category or an application that has a name, or a name above it. */
export interface ListedName {
  readonly kind: keyof DefinitionGroups;
  readonly group: NamedGroup;
  /** Null: the domains in the definition itself. */
  readonly source: string | null;
  /** Labels of the name that the list has. */
  readonly labels: number;
  readonly line: number;
  /** When it was first read there. */
  readonly since: Date;
}

type Place = Pick<ListedName, 'labels' | 'line' | 'since'>;

/**
 * Finds the lists that have a name, or a name above it: the accepted list of each source, and the domains in the
 * definition. Of each list it reads a few pieces.
 * @param categoryId of the only group to look at; null: all.
 */
export async function findListed(
  pool: Pool,
  hashes: Suffixes,
  categoryId: number | null,
): Promise<ListedName[]> {
  return inTransaction(pool, async (client) => {
    await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { categories, applications } = await readDefinitionGroups(client);
    const bySource = new Map<string, Place[]>();
    const listed: ListedName[] = [];
    const search = async (kind: ListedName['kind'], group: NamedGroup): Promise<void> => {
      for (const place of placesInline(group, hashes)) {
        listed.push({ kind, group, source: null, ...place });
      }
      for (const { name: source } of group.sources) {
        const places = bySource.get(source) ?? (await placesIn(client, source, hashes));
        bySource.set(source, places);
        for (const place of places) listed.push({ kind, group, source, ...place });
      }
    };
    for (const one of categories) {
      if (categoryId === null || one.id === categoryId) await search('categories', one);
    }
    if (categoryId === null) for (const one of applications) await search('applications', one);
    return listed;
  });
}

function placesInline({ inline }: NamedGroup, { low, high, count }: Suffixes): Place[] {
  const places = inline.flatMap(([itsLow, itsHigh, line, since]) => {
    const suffix = low
      .subarray(0, count)
      .findIndex((one, i) => one === itsLow && high[i] === itsHigh);
    return suffix < 0 ? [] : [{ labels: suffix + 1, line, since: new Date(since * 1000) }];
  });
  return places.sort((a, b) => b.labels - a.labels);
}

/** The longest name first. */
async function placesIn(
  client: ClientBase,
  source: string,
  { low, high, count: labels }: Suffixes,
): Promise<Place[]> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT domain_count AS count FROM catalogue_source WHERE name = $1 AND places IS NOT NULL',
    [source],
  );
  const count = rows[0]?.count ?? 0;
  const places: Place[] = [];
  for (let suffix = labels - 1; suffix >= 0; suffix--) {
    const at = await searchNames(count, low[suffix], high[suffix], (from, names) =>
      readWords(client, source, 'names', HEADER_BYTES + from * HASH_BYTES, names),
    );
    if (at < 0) continue;
    const [place, since] = await readWords(client, source, 'places', at * HASH_BYTES, 1);
    places.push({ labels: suffix + 1, line: lineOf(place), since: new Date(since * 1000) });
  }
  return places;
}

/** Two words for each name. */
async function readWords(
  client: ClientBase,
  source: string,
  column: 'names' | 'places',
  offset: number,
  names: number,
): Promise<Uint32Array> {
  const { rows } = await client.query<{ piece: Buffer }>(
    `SELECT substring(${column} FROM $2 FOR $3) AS piece FROM catalogue_source WHERE name = $1`,
    [source, offset + 1, names * HASH_BYTES],
  );
  // A copy, which is aligned.
  return new Uint32Array(Uint8Array.from(rows[0].piece).buffer);
}
