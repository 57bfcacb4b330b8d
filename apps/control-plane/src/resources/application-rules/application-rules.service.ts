import { Injectable } from '@nestjs/common';
import type { ApplicationRule, Profile, RuleVerdict } from '@weir/config-model';
import { notFound } from '../../http/errors/errors.js';
import { type Fault, type FaultLocation, throwIfFaults } from '../../http/validation/fault.js';
import { ConfigurationReader } from '../../revisions/configuration-reader.js';
import {
  ConfigurationWriter,
  type LockedHead,
  type Transaction,
} from '../../revisions/configuration-writer.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import { ActiveCatalogueReader } from '../applications/active-catalogue-reader.js';
import { sortRules } from '../profiles/profile-draft.js';
import { requireProfile, updateProfile } from '../profiles/profile-store.js';

/** Application rules of profiles. They are part of the profile entity: a changed rule is a changed profile. */
@Injectable()
export class ApplicationRulesService {
  constructor(
    private readonly reader: ConfigurationReader,
    private readonly writer: ConfigurationWriter,
    private readonly catalogue: ActiveCatalogueReader,
  ) {}

  /** The rules of a profile, by application. */
  list(profileId: number): Promise<WithRevision<readonly ApplicationRule[]>> {
    return this.reader.read(async (tx) => (await requireProfile(tx, profileId)).applicationRules);
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
    return this.writer.write(async (tx, head) => {
      const before = await requireProfile(tx, profileId);
      throwIfFaults(await this.unknown(tx, head, applicationIds, locationOf));
      const distinct = new Set(applicationIds);
      const rules = Array.from(distinct, (applicationId) => ({ applicationId, verdict }));
      const others = before.applicationRules.filter((rule) => !distinct.has(rule.applicationId));
      return {
        result: rules,
        changes: [await replaceRules(tx, before, [...others, ...rules])],
      };
    });
  }

  remove(profileId: number, applicationId: number): Promise<WithRevision<void>> {
    return this.writer.write(async (tx) => {
      const before = await requireProfile(tx, profileId);
      const rest = before.applicationRules.filter((rule) => rule.applicationId !== applicationId);
      if (rest.length === before.applicationRules.length) {
        throw notFound(`application rule ${applicationId} of profile ${profileId}`);
      }
      return { result: undefined, changes: [await replaceRules(tx, before, rest)] };
    });
  }

  private async unknown(
    tx: Transaction,
    head: LockedHead,
    applicationIds: readonly number[],
    locationOf: (i: number) => FaultLocation,
  ): Promise<Fault[]> {
    const known = await this.catalogue.applications(tx, head);
    return applicationIds.flatMap((applicationId, i): Fault[] => {
      if (known.has(applicationId)) return [];
      const msg = `The catalogue has no application ${applicationId}`;
      return [{ loc: locationOf(i), msg, type: 'reference' }];
    });
  }
}

interface ProfileChange {
  readonly kind: 'profile';
  readonly before: Profile;
  readonly after: Profile;
}

async function replaceRules(
  tx: Transaction,
  before: Profile,
  rules: readonly ApplicationRule[],
): Promise<ProfileChange> {
  const after = { ...before, applicationRules: sortRules(rules) };
  await updateProfile(tx, before, after);
  return { kind: 'profile', before, after };
}
