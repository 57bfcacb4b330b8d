/** The bit of each flag of a profile: in its row, and wherever the flags are kept as a number. */
export const ProfileFlag = {
  whiteListOnly: 1,
  emptyDnsAnswer: 2,
  appawarePriorityOverBwlists: 4,
} as const;

export type ProfileFlags = Readonly<Record<keyof typeof ProfileFlag, boolean>>;

export const ALL_PROFILE_FLAGS = Object.values(ProfileFlag).reduce((all, bit) => all | bit, 0);

const FLAGS = Object.entries(ProfileFlag) as [keyof ProfileFlags, number][];

export function encodeProfileFlags(profile: ProfileFlags): number {
  return FLAGS.reduce((flags, [name, bit]) => (profile[name] ? flags | bit : flags), 0);
}

export function decodeProfileFlags(flags: number): ProfileFlags {
  const entries = FLAGS.map(([name, bit]) => [name, (flags & bit) !== 0]);
  return Object.fromEntries(entries) as ProfileFlags;
}
