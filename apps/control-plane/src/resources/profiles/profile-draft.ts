import type { ApplicationRule, Profile } from '@weir/config-model';
import { type FaultLocation, type Fault, MAX_FAULTS } from '../../http/validation/fault.js';

/** A profile as it was submitted: its categories and applications may be unordered, and categories may repeat. */
export type ProfileDraft = Profile;

/** The profile of a draft: categories ascending and without duplicates, rules sorted by application. */
export function toProfile(draft: ProfileDraft): Profile {
  return {
    ...draft,
    categoryIds: [...Uint32Array.from(new Set(draft.categoryIds)).sort()],
    applicationRules: sortRules(draft.applicationRules),
  };
}

export function sortRules(rules: readonly ApplicationRule[]): ApplicationRule[] {
  return [...rules].sort((a, b) => a.applicationId - b.applicationId);
}

/** A fault for each duplicate application and each that is not in the catalogue (decisions §2), up to `MAX_FAULTS`. */
export function applicationFaults(
  rules: readonly ApplicationRule[],
  applications: ReadonlyMap<number, string>,
  locationOf: (i: number) => FaultLocation,
): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<number>();
  for (const [i, { applicationId }] of rules.entries()) {
    if (faults.length >= MAX_FAULTS) break;
    if (seen.has(applicationId)) {
      const msg = `Application ${applicationId} is a duplicate`;
      faults.push({ loc: locationOf(i), msg, type: 'duplicate' });
    } else if (!applications.has(applicationId)) {
      const msg = `The catalogue has no application ${applicationId}`;
      faults.push({ loc: locationOf(i), msg, type: 'reference' });
    }
    seen.add(applicationId);
  }
  return faults;
}
