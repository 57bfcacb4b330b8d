import type { Profile } from './entities.js';

/** The bit of each flag of a profile: in its row, and wherever the flags are kept as a number. */
export const ProfileFlag = {
  whiteListOnly: 1,
  emptyDnsAnswer: 2,
  appawarePriorityOverBwlists: 4,
} as const;

export type ProfileFlags = Readonly<Record<keyof typeof ProfileFlag, boolean>>;

/** All flags set. */
export const ALL_PROFILE_FLAGS = Object.values(ProfileFlag).reduce((all, bit) => all | bit, 0);

export function encodeProfileFlags(profile: Pick<Profile, keyof ProfileFlags>): number {
  return (
    (profile.whiteListOnly ? ProfileFlag.whiteListOnly : 0) |
    (profile.emptyDnsAnswer ? ProfileFlag.emptyDnsAnswer : 0) |
    (profile.appawarePriorityOverBwlists ? ProfileFlag.appawarePriorityOverBwlists : 0)
  );
}

export function decodeProfileFlags(flags: number): ProfileFlags {
  return {
    whiteListOnly: (flags & ProfileFlag.whiteListOnly) !== 0,
    emptyDnsAnswer: (flags & ProfileFlag.emptyDnsAnswer) !== 0,
    appawarePriorityOverBwlists: (flags & ProfileFlag.appawarePriorityOverBwlists) !== 0,
  };
}
