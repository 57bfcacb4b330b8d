import { Body, Controller, Param, Query } from '@nestjs/common';
import type { Grant } from '@weir/config-model';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import { orNotFound } from '../../http/errors/errors.js';
import { type Answer, ApiEndpoint } from '../../http/routing/endpoint.js';
import type { Job } from '../../platform/jobs/job-scheduler.js';
import { actAs } from '../../revisions/change-record.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { SubmittedChange, WorkingTables } from '../../revisions/working-tables.js';
import { DomainHasher } from '../domain-lists/domain-check.js';
import { profileNotFound, WorkingProfiles } from '../profiles/profile-store.js';
import { ProfilePath } from '../profiles/profile.dto.js';
import {
  endedGrants,
  type FoundGrant,
  type GrantKey,
  grantOf,
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

const TAG = 'grants';

/** Grants: what a profile is allowed or denied for a while (decisions §15). Domains are known only by their hashes. */
@Controller()
export class GrantsController {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
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
  list(
    @Param() { profile_id: id }: ProfilePath,
    @Query() { after, limit }: GrantsQuery,
  ): Answer<StoredGrantDto[]> {
    const place = after === undefined ? null : readPlace(after);
    return this.reader.read(grantsOf(id, place, limit ?? null), (rows: FoundGrant[]) => {
      if (rows.length === 0) throw profileNotFound(id);
      const grants = rows.filter((row) => row.domainHash !== null);
      return grants.sort((a, b) => a.until - b.until || a.domainHash - b.domainHash).map(toDto);
    });
  }

  @ApiEndpoint('GET /profile/:profile_id/grants/:id', {
    tag: TAG,
    path: GrantPath,
    summary: 'One grant that holds',
    answer: StoredGrantDto,
    errors: [404],
  })
  get(@Param() path: GrantPath): Answer<StoredGrantDto> {
    const key = toKey(path);
    return this.reader.read(grantOf(key), ([row]: FoundGrant[]) => {
      if (row === undefined) throw profileNotFound(key.profileId);
      return toDto(existing(key, row.domainHash === null ? null : row));
    });
  }

  @ApiEndpoint('POST /profile/:profile_id/grants', {
    tag: TAG,
    path: ProfilePath,
    body: GrantDto,
    summary: 'Allows or denies a domain for a while; it replaces the grant of the same domain',
    answer: StoredGrantDto,
    errors: [404],
  })
  create(
    @Param() { profile_id: profileId }: ProfilePath,
    @Body() body: GrantDto,
  ): Answer<StoredGrantDto> {
    const after = toGrant(profileId, body, (domain) => this.hasher.hash(domain));
    return this.writer.write({
      need: (tables) => need(tables, after),
      make: (tables) => {
        tables.of(WorkingProfiles.open).require(profileId);
        const before = tables.of(openGrants).find(after);
        tables.of(openGrants).put(after);
        return { result: toDto(after), changes: [{ kind: 'grant', before, after }] };
      },
    });
  }

  @ApiEndpoint('DELETE /profile/:profile_id/grants/:id', {
    tag: TAG,
    path: GrantPath,
    summary: 'Ends a grant',
    errors: [404],
  })
  remove(@Param() path: GrantPath): Answer<void> {
    const key = toKey(path);
    return this.writer.write({
      need: (tables) => need(tables, key),
      make: (tables) => {
        tables.of(WorkingProfiles.open).require(key.profileId);
        const before = existing(key, tables.of(openGrants).find(key));
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

function existing<T>({ profileId, domainHash }: GrantKey, grant: T | null): T {
  return orNotFound(grant, `grant ${domainHash} of profile ${profileId}`);
}

function need(tables: WorkingTables, key: GrantKey): void {
  tables.of(WorkingProfiles.open).needId(key.profileId);
  tables.of(openGrants).need(key);
}

const EVERY_MS = 60_000;
/** Grants that one change removes. */
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
