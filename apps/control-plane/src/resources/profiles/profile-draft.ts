import type { ApplicationRule, Profile } from '@weir/config-model';
import type { FaultLocation } from '../../http/validation/fault.js';

/** A profile as it was submitted: its categories and applications may be unordered, and categories may repeat. */
export type ProfileDraft = Profile;

/** The submitted fields of a PATCH; undefined: unchanged. */
export type ProfilePatch = { readonly [K in keyof Omit<Profile, 'id'>]: Profile[K] | undefined };

/** Where a request names what a profile refers to, for the faults of unknown ones. */
export interface ProfileLocations {
  readonly pageId: FaultLocation;
  /** Of the application at a position. */
  application(i: number): FaultLocation;
}

/** The profile of a draft: categories ascending and without duplicates, rules sorted by application. */
export function toProfile(draft: ProfileDraft): Profile {
  return {
    ...draft,
    categoryIds: [...Uint32Array.from(new Set(draft.categoryIds)).sort()],
    applicationRules: sortRules(draft.applicationRules),
  };
}

/** The draft that results from a patch of a profile. */
export function applyPatch(before: Profile, patch: ProfilePatch): ProfileDraft {
  return {
    id: before.id,
    // null is a value: no page.
    pageId: patch.pageId === undefined ? before.pageId : patch.pageId,
    whiteListOnly: patch.whiteListOnly ?? before.whiteListOnly,
    emptyDnsAnswer: patch.emptyDnsAnswer ?? before.emptyDnsAnswer,
    appawarePriorityOverBwlists:
      patch.appawarePriorityOverBwlists ?? before.appawarePriorityOverBwlists,
    categoryIds: patch.categoryIds ?? before.categoryIds,
    applicationRules: patch.applicationRules ?? before.applicationRules,
  };
}

export function sortRules(rules: readonly ApplicationRule[]): ApplicationRule[] {
  return [...rules].sort((a, b) => a.applicationId - b.applicationId);
}
