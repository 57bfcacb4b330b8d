import { Random } from '../../deployment/random.js';

/**
 * How names are asked. With dnsperf: 200 at a time on all sockets together, over UDP on as many as the comparison
 * wants. Over HTTPS with h2load: as GET, this many streams at a time on each connection.
 */
export type Load =
  | { readonly transport: 'udp' }
  | { readonly transport: 'tcp' | 'dot'; readonly connections: number }
  | { readonly transport: 'doh'; readonly connections: number; readonly streams: number };

export type Transport = Load['transport'];

/** What all servers are asked, and what they must block for it. */
export interface Job {
  readonly name: string;
  readonly title: string;
  readonly load: Load;
  /** Domains that are blocked, with all names below them. */
  readonly blockedDomains: () => Iterable<string>;
  /** Names that are asked once before the measurement, so that they are cached. */
  readonly warmUp: readonly string[];
  /** Names of a part of the measurement, in order. */
  readonly names: (phase: PhaseName) => Iterable<string>;
}

/** What a process is measured with: load that is not counted, full load, a steady rate. */
export const PHASES = ['warm', 'full', 'steady'] as const;
export type PhaseName = (typeof PHASES)[number];

/** Address of every blocked name. */
export const BLOCK_ADDRESS = '192.0.2.1';
/** The names below this one have an address. */
export const ORIGIN = 'example';

const BLOCKED_ZONE = `blocked.${ORIGIN}`;
const NAMES = 10_000;
const UDP: Load = { transport: 'udp' };
const MILLION = 1_000_000;
const CACHED_NAMES = Array.from({ length: NAMES }, (_, i) => `www.site-${i}.${ORIGIN}`);

/** Over UDP, with one blocked zone. */
const PLAIN = { load: UDP, blockedDomains: () => [BLOCKED_ZONE], warmUp: [] };
const ONE_ZONE = { ...PLAIN, names: () => blockedNames() };
const OF_ONE_ZONE = '10,000 names of one blocked zone';

export const JOBS: readonly Job[] = [
  { ...ONE_ZONE, name: 'zone', title: 'one blocked zone: 10,000 names below it' },
  {
    ...PLAIN,
    name: 'million',
    title: '1,000,000 blocked domains: 100,000 of them',
    blockedDomains: listedDomains,
    names: () => names(100_000, (random) => listedDomain(random.integer(0, MILLION - 1))),
  },
  {
    ...PLAIN,
    name: 'cached',
    title: 'cached answers: 10,000 names',
    warmUp: CACHED_NAMES,
    names: () => names(100_000, cachedName),
  },
  {
    ...PLAIN,
    name: 'mix',
    title: 'a mix: 60 % cached, 20 % blocked, 20 % forwarded',
    warmUp: CACHED_NAMES,
    names: mixedNames,
  },
  {
    ...PLAIN,
    name: 'forwarded',
    title: 'forwarded questions, each for a new name',
    names: forwardedNames,
  },
  {
    ...ONE_ZONE,
    name: 'tcp',
    title: `TCP, 8 connections: ${OF_ONE_ZONE}`,
    load: { transport: 'tcp', connections: 8 },
  },
  {
    ...ONE_ZONE,
    name: 'dot',
    title: `TLS, 8 connections: ${OF_ONE_ZONE}`,
    load: { transport: 'dot', connections: 8 },
  },
  {
    ...ONE_ZONE,
    name: 'doh',
    title: `HTTPS, 8 connections of 20 streams: ${OF_ONE_ZONE}`,
    load: { transport: 'doh', connections: 8, streams: 20 },
  },
  {
    ...ONE_ZONE,
    name: 'doh-64',
    title: `HTTPS, 64 connections of 2 streams: ${OF_ONE_ZONE}`,
    load: { transport: 'doh', connections: 64, streams: 2 },
  },
];

/** All of one length, so that right answers are, too. */
function blockedNames(): Iterable<string> {
  return generate(NAMES, (i) => `host-${NAMES + i}.${BLOCKED_ZONE}`);
}

function listedDomains(): Iterable<string> {
  return generate(MILLION, listedDomain);
}

/** Spread over the alphabet, as in real lists: neighbours in a list are not neighbours in a hash table or tree. */
function listedDomain(i: number): string {
  return `${((i * 2_654_435_761) % 2 ** 32).toString(36)}-${i.toString(36)}.${ORIGIN}`;
}

/** More than a server answers in one phase. */
const FORWARDED_NAMES = 1_000_000;

function forwardedNames(phase: PhaseName): Iterable<string> {
  return generate(FORWARDED_NAMES, (i) => newName(phase, i));
}

/** A forwarded name must not be asked twice, in no phase. */
const newName = (phase: PhaseName, i: number): string => `${phase}-${i}.new.${ORIGIN}`;

/** More than a server answers in one phase. */
const MIXED_NAMES = 3_000_000;

function mixedNames(phase: PhaseName): Iterable<string> {
  const random = new Random(1);
  return generate(MIXED_NAMES, (i) => {
    const kind = i % 5;
    if (kind === 1) return `host-${random.integer(0, NAMES - 1)}.${BLOCKED_ZONE}`;
    return kind === 3 ? newName(phase, i) : cachedName(random);
  });
}

const cachedName = (random: Random): string => random.pick(CACHED_NAMES);

function names(times: number, make: (random: Random) => string): Iterable<string> {
  const random = new Random(1);
  return generate(times, () => make(random));
}

function generate(times: number, make: (i: number) => string): Iterable<string> {
  return new Array(times).keys().map(make);
}
