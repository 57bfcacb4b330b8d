import { Body, Controller, Injectable, Param, Query } from '@nestjs/common';
import type { Grant } from '@weir/config-model';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import { notFound } from '../../http/errors/errors.js';
import { ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { Job } from '../../platform/jobs/job-scheduler.js';
import { actAs } from '../../revisions/change-record.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { SubmittedChange } from '../../revisions/submitted-change.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { DomainHasher } from '../domain-lists/domain-check.js';
import { profileNotFound, WorkingProfiles } from '../profiles/profile-store.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import {
  endedGrants,
  type FoundGrant,
  type GrantKey,
  grantOf,
  type GrantPlace,
  grantsOf,
  openGrants,
} from './grant-store.js';
import {
  GrantDto,
  GrantPath,
  GrantsQuery,
  readPlace,
  StoredGrantDto,
  toDto,
  toGrant,
  toKey,
} from './grant.dto.js';

/** Grants: what a profile is allowed or denied for a while (decisions §15). Domains are known only by their hashes. */
@Injectable()
export class GrantsService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
  ) {}

  /** Those of a profile that hold, by their end. @param limit so many at most; null: all. */
  list(
    profileId: number,
    after: GrantPlace | null,
    limit: number | null,
  ): Promise<WithRevision<Grant[]>> {
    return this.reader.read(grantsOf(profileId, after, limit), (rows: FoundGrant[]) => {
      if (rows.length === 0) throw profileNotFound(profileId);
      const grants = rows.filter((row) => row.domainHash !== null);
      return grants.sort((a, b) => a.until - b.until || a.domainHash - b.domainHash);
    });
  }

  /** One that holds. */
  get(key: GrantKey): Promise<WithRevision<Grant>> {
    return this.reader.read(grantOf(key), ([row]: FoundGrant[]) => {
      if (row === undefined) throw profileNotFound(key.profileId);
      if (row.domainHash === null) throw grantNotFound(key);
      return row;
    });
  }

  /** Creates a grant, or replaces that of the same domain. */
  put(after: Grant): Promise<WithRevision<Grant>> {
    return this.writer.write({
      need: (tables) => need(tables, after),
      make: (tables) => {
        tables.of(WorkingProfiles.open).require(after.profileId);
        const before = tables.of(openGrants).find(after);
        tables.of(openGrants).put(after);
        return { result: after, changes: [{ kind: 'grant', before, after }] };
      },
    });
  }

  remove(key: GrantKey): Promise<WithRevision<void>> {
    return this.writer.write({
      need: (tables) => need(tables, key),
      make: (tables) => {
        tables.of(WorkingProfiles.open).require(key.profileId);
        const before = tables.of(openGrants).find(key);
        if (before === null) throw grantNotFound(key);
        tables.of(openGrants).delete(key);
        return { result: undefined, changes: [{ kind: 'grant', before, after: null }] };
      },
    });
  }
}

/** Removes the grants that are still as they were found. @returns how many that were. */
export function removal(found: readonly Grant[]): SubmittedChange<number> {
  return {
    items: found.length,
    need: (tables) => {
      for (const grant of found) tables.of(openGrants).need(grant);
    },
    make: (tables) => {
      const grants = tables.of(openGrants);
      const ended = found.filter((grant) => grants.find(grant)?.until === grant.until);
      for (const grant of ended) grants.delete(grant);
      const changes = ended.map((before) => ({ kind: 'grant', before, after: null }) as const);
      return { result: ended.length, changes };
    },
  };
}

function grantNotFound({ profileId, domainHash }: GrantKey): Error {
  return notFound(`grant ${domainHash} of profile ${profileId}`);
}

function need(tables: WorkingTables, key: GrantKey): void {
  tables.of(WorkingProfiles.open).needId(key.profileId);
  tables.of(openGrants).need(key);
}

const TAG = 'grants';

@Controller()
export class GrantsController {
  constructor(
    private readonly grants: GrantsService,
    private readonly hasher: DomainHasher,
  ) {}

  @ApiEndpoint('GET /profile/:profile_id/grants', {
    tag: TAG,
    path: ProfilePath,
    query: GrantsQuery,
    summary: 'The grants of a profile that hold, by their end',
    description:
      'Without parameters it answers all. A page begins after the last grant of the one before.',
    answer: [StoredGrantDto],
    errors: [404],
  })
  async list(
    @Param() { profile_id: id }: ProfilePath,
    @Query() { after, limit }: GrantsQuery,
  ): Promise<WithRevision<Json<StoredGrantDto>[]>> {
    const place = after === undefined ? null : readPlace(after);
    return (await this.grants.list(id, place, limit ?? null)).map((all) => all.map(toDto));
  }

  @ApiEndpoint('GET /profile/:profile_id/grants/:id', {
    tag: TAG,
    path: GrantPath,
    summary: 'One grant that holds',
    answer: StoredGrantDto,
    errors: [404],
  })
  async get(@Param() path: GrantPath): Promise<WithRevision<Json<StoredGrantDto>>> {
    return (await this.grants.get(toKey(path))).map(toDto);
  }

  @ApiEndpoint('POST /profile/:profile_id/grants', {
    tag: TAG,
    path: ProfilePath,
    body: GrantDto,
    summary: 'Allows or denies a domain for a while; it replaces the grant of the same domain',
    answer: StoredGrantDto,
    errors: [404],
  })
  async create(
    @Param() path: ProfilePath,
    @Body() body: GrantDto,
  ): Promise<WithRevision<Json<StoredGrantDto>>> {
    const grant = toGrant(path.profile_id, body, (domain) => this.hasher.hash(domain));
    return (await this.grants.put(grant)).map(toDto);
  }

  @ApiEndpoint('DELETE /profile/:profile_id/grants/:id', {
    tag: TAG,
    path: GrantPath,
    summary: 'Ends a grant',
    errors: [404],
  })
  remove(@Param() path: GrantPath): Promise<WithRevision<void>> {
    return this.grants.remove(toKey(path));
  }
}

const EVERY_MS = 60_000;
/** Grants removed by one change. */
const BATCH = 1_000;

/** The job that removes the grants that have ended, by changes like any other. */
export function grantExpiry(
  pool: Pick<Pool, 'query'>,
  writer: Pick<ConfigurationWriter, 'write'>,
  log: Logger,
): Job {
  return {
    name: 'remove-ended-grants',
    everyMs: EVERY_MS,
    attempts: 3,
    firstRetryDelayMs: 1_000,
    run: async (signal) => {
      let removed = 0;
      for (;;) {
        signal.throwIfAborted();
        const { rows } = await pool.query<Grant>(endedGrants(BATCH));
        if (rows.length === 0) break;
        const change = removal(rows);
        removed += (await actAs({ origin: 'expiry' }, () => writer.write(change))).result;
      }
      if (removed > 0) log.info({ grants: removed }, 'grants that have ended are removed');
    },
  };
}
