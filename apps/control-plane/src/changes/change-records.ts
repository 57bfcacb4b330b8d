import { Injectable } from '@nestjs/common';
import { Prisma } from '../generated/prisma/client.js';
import { ConfigurationReader } from '../revisions/configuration-reader.js';
import { EVERY_PROFILE } from '../revisions/change-record.js';
import type { WithRevision } from '../revisions/with-revision.js';
import type { RecordRow } from './change.dto.js';

/** Which records are asked for. Undefined: all. */
export interface RecordFilter {
  /** Only what names this profile, and what names every one. */
  readonly profileId?: number | undefined;
  /** Only the changes of the token with this name. */
  readonly token?: string | undefined;
}

/** Those after a revision, from the oldest on, or the newest. */
export type RecordPlace = { readonly after: number } | 'newest';

/** Records by revision. With another lineage, the same revision is another change. */
interface FoundRecords {
  readonly records: readonly RecordRow[];
  readonly lineage: string;
}

@Injectable()
export class ChangeRecords {
  /** The last of the reads that wait for each other. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly reader: ConfigurationReader) {}

  /** @param limit at most this many. It reads at most twice as many rows, whatever the filter. */
  find(
    filter: RecordFilter,
    place: RecordPlace,
    limit: number,
  ): Promise<WithRevision<FoundRecords>> {
    const found = findRevisions(filter, place, limit);
    return this.reader.read(
      Prisma.sql`
        SELECT revision::float8 AS revision, created_at, token, host(source) AS source, request_id, method, route,
               keys, key_count
        FROM (${found}) AS found JOIN change_record USING (revision)`,
      (rows: readonly RecordRow[], { lineage }) => ({
        records: rows.toSorted((a, b) => a.revision - b.revision),
        lineage,
      }),
    );
  }

  /** As `find`, one after the other on one connection. Those that wait for one that fails fail with it. */
  findForStream(...values: Parameters<ChangeRecords['find']>): ReturnType<ChangeRecords['find']> {
    const found = this.last.then(() => this.find(...values));
    this.last = found;
    found.catch(() => {
      if (this.last === found) this.last = Promise.resolve();
    });
    return found;
  }
}

function findRevisions(
  { profileId, token }: RecordFilter,
  place: RecordPlace,
  limit: number,
): Prisma.Sql {
  const filter = token === undefined ? {} : { token };
  if (profileId === undefined) return walkIndex('change_record', filter, place, limit);
  const [own, every] = [profileId, EVERY_PROFILE].map((id) =>
    walkIndex('change_record_profile', { profile_id: id, ...filter }, place, limit),
  );
  const direction = Prisma.raw(place === 'newest' ? 'DESC' : 'ASC');
  return Prisma.sql`
    SELECT revision FROM ((${own}) UNION ALL (${every})) AS either ORDER BY revision ${direction} LIMIT ${limit}`;
}

/**
 * The next revisions in the index of these columns and the revision. Rows are compared as a whole and sorted by all
 * columns, so that no other index would do: the planner does not know how many rows it would have to pass over.
 */
function walkIndex(
  table: string,
  equal: Readonly<Record<string, number | string>>,
  place: RecordPlace,
  limit: number,
): Prisma.Sql {
  const columns = [...Object.keys(equal), 'revision'];
  const values = Object.entries(equal).map(([name, value]) =>
    name === 'token' ? Prisma.sql`${value}::text` : Prisma.sql`${value}::integer`,
  );
  const rowOf = (revision: number): Prisma.Sql =>
    Prisma.sql`(${Prisma.join([...values, Prisma.sql`${revision}::bigint`])})`;
  const direction = place === 'newest' ? 'DESC' : 'ASC';
  return Prisma.sql`
    SELECT revision FROM ${Prisma.raw(table)}
    WHERE (${Prisma.raw(columns.join(', '))}) > ${rowOf(place === 'newest' ? 0 : place.after)}
      AND (${Prisma.raw(columns.join(', '))}) <= ${rowOf(Number.MAX_SAFE_INTEGER)}
    ORDER BY ${Prisma.raw(columns.map((name) => `${name} ${direction}`).join(', '))} LIMIT ${limit}`;
}
