import { type ChunkChange, type Fork, Space, type SpaceOptions } from './memory/space.js';

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
  'orderTables',
  'orders',
  'orderTexts',
  'grantTables',
  'grants',
] as const;
type SpaceName = (typeof NAMES)[number];

/** All memory of a policy that queries read. */
export type PolicySpaces = Readonly<Record<SpaceName, Space>>;

/** Chunks to be adopted, by structure. Can be sent to another thread. */
export type SpaceChanges = Readonly<Partial<Record<SpaceName, readonly ChunkChange[]>>>;

export function createSpaces(options?: SpaceOptions): PolicySpaces {
  return mapSpaces(() => new Space(options));
}

/** Spaces with the same chunks (`Space.forkFor`). */
export function forkSpaces(spaces: PolicySpaces, fork: Fork): PolicySpaces {
  return mapSpaces((name) => spaces[name].forkFor(fork));
}

export function giveAwaySpaces(spaces: PolicySpaces, others: PolicySpaces): void {
  spaces.head.memory.limit(bytesOf(others));
  for (const name of NAMES) spaces[name].giveAwayFor(others[name]);
}

export function bytesOf(spaces: PolicySpaces): number {
  let sum = 0;
  for (const name of NAMES) for (const { byteLength } of spaces[name].chunks) sum += byteLength;
  return sum;
}

export type KnownChunks = Readonly<Partial<Record<SpaceName, readonly Int32Array[]>>>;

export function knownChunks(spaces: PolicySpaces): KnownChunks {
  return Object.fromEntries(NAMES.map((name) => [name, [...spaces[name].chunks]]));
}

/** What must be adopted where the chunks are the known ones. */
export function changesSince(spaces: PolicySpaces, known: KnownChunks): SpaceChanges {
  const changes = NAMES.map(
    (name) => [name, spaces[name].changesSince(known[name] ?? [])] as const,
  );
  return Object.fromEntries(changes.filter(([, { length }]) => length > 0));
}

export function adoptChanges(spaces: PolicySpaces, changes: SpaceChanges): void {
  for (const name of NAMES) spaces[name].adopt(changes[name] ?? []);
}

function mapSpaces(toSpace: (name: SpaceName) => Space): PolicySpaces {
  return Object.fromEntries(NAMES.map((name) => [name, toSpace(name)])) as Record<SpaceName, Space>;
}
