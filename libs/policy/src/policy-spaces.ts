import { type ChunkChange, Space } from './memory/space.js';

/** The structures of a policy, each with a space of its own. */
const NAMES = [
  'head',
  'profiles',
  'profileLists',
  'domainRules',
  'naptAddresses',
  'naptRanges',
  'ipv4Long',
  'ipv4Short',
  'ipv6Short',
  'ipv6Long',
  'scheduleSlots',
  'schedules',
] as const;
type SpaceName = (typeof NAMES)[number];

/** All memory of a policy that queries read. */
export type PolicySpaces = Readonly<Record<SpaceName, Space>>;

/** Chunks to be adopted, by structure. Can be sent to another thread. */
export type SpaceChanges = Readonly<Partial<Record<SpaceName, readonly ChunkChange[]>>>;

export function createSpaces(): PolicySpaces {
  return Object.fromEntries(NAMES.map((name) => [name, new Space()])) as Record<SpaceName, Space>;
}

export function adoptChanges(spaces: PolicySpaces, changes: SpaceChanges): void {
  for (const name of NAMES) spaces[name].adopt(changes[name] ?? []);
}
