import { Injectable } from '@nestjs/common';
import type { Grant } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { SubmittedChange } from '../../revisions/submitted-change.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { profileNotFound } from '../profiles/profile-store.js';
import { WorkingProfiles } from '../profiles/working-profiles.js';
import {
  type FoundGrant,
  type GrantKey,
  grantOf,
  type GrantPlace,
  grantsOf,
  openGrants,
} from './grant-store.js';

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
