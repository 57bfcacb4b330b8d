import { Injectable } from '@nestjs/common';
import type { ApplicationRule, Profile, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import {
  type Fault,
  type FaultLocation,
  MAX_FAULTS,
  throwIfFaults,
} from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import { ConfigurationWriter } from '../../revisions/configuration-writer.js';
import type { EntityChange } from '../../revisions/entity-change.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import type { WorkingTables } from '../../revisions/working-tables.js';
import { ActiveCatalogueReader } from '../applications/active-catalogue-reader.js';
import { sortRules } from '../profiles/profile-draft.js';
import { readProfile } from '../profiles/profile-store.js';
import { WorkingProfiles } from '../profiles/working-profiles.js';

/** Application rules of profiles. They are part of the profile entity: a changed rule is a changed profile. */
@Injectable()
export class ApplicationRulesService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    private readonly catalogue: ActiveCatalogueReader,
  ) {}

  /** The rules of a profile, by application. */
  async list(profileId: number): Promise<WithRevision<readonly ApplicationRule[]>> {
    const profile = await readProfile(this.reader, profileId);
    return profile.map(({ applicationRules }) => applicationRules);
  }

  /**
   * Creates or replaces the rules (decisions §2).
   * @returns the rules in the submitted order, without duplicates.
   * @param locationOf where the request names the application at a position.
   */
  put(
    profileId: number,
    applicationIds: readonly number[],
    verdict: RuleVerdict,
    locationOf: (i: number) => FaultLocation,
  ): Promise<WithRevision<ApplicationRule[]>> {
    return this.writer.write({
      items: applicationIds.length,
      need: (tables) => {
        tables.of(WorkingProfiles.open).need(profileId);
        tables.of(this.catalogue.open);
      },
      make: (tables) => {
        const before = tables.of(WorkingProfiles.open).get(profileId);
        const { names } = tables.of(this.catalogue.open);
        throwIfFaults(unknownFaults(applicationIds, names, locationOf));
        const distinct = new Set(applicationIds);
        const rules = Array.from(distinct, (applicationId) => ({ applicationId, verdict }));
        const others = before.applicationRules.filter((rule) => !distinct.has(rule.applicationId));
        return { result: rules, changes: [replaceRules(tables, before, [...others, ...rules])] };
      },
    });
  }

  remove(profileId: number, applicationId: number): Promise<WithRevision<void>> {
    return this.writer.write({
      need: (tables) => tables.of(WorkingProfiles.open).need(profileId),
      make: (tables) => {
        const before = tables.of(WorkingProfiles.open).get(profileId);
        const rest = before.applicationRules.filter((rule) => rule.applicationId !== applicationId);
        if (rest.length === before.applicationRules.length) {
          throw notFound(`application rule ${applicationId} of profile ${profileId}`);
        }
        return { result: undefined, changes: [replaceRules(tables, before, rest)] };
      },
    });
  }
}

function unknownFaults(
  applicationIds: readonly number[],
  known: ReadonlyMap<number, string>,
  locationOf: (i: number) => FaultLocation,
): Fault[] {
  const faults: Fault[] = [];
  for (const [i, applicationId] of applicationIds.entries()) {
    if (faults.length >= MAX_FAULTS) break;
    if (known.has(applicationId)) continue;
    const msg = `The catalogue has no application ${applicationId}`;
    faults.push({ loc: locationOf(i), msg, type: 'reference' });
  }
  return faults;
}

function replaceRules(
  tables: WorkingTables,
  before: Profile,
  rules: readonly ApplicationRule[],
): EntityChange {
  const after = { ...before, applicationRules: sortRules(rules) };
  tables.of(WorkingProfiles.open).put(after);
  return { kind: 'profile', before, after };
}
