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
  /** Names of a part of the measurement, in order: the same at every run. */
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
const ONE_ZONE = { ...PLAIN, names: blockedNames };

const overStreams = (name: string, title: string, load: Load): Job => {
  return { ...ONE_ZONE, name, title: `${title}: 10,000 names of one blocked zone`, load };
};

export const JOBS: readonly Job[] = [
  { ...ONE_ZONE, name: 'zone', title: 'one blocked zone: 10,000 names below it' },
  {
    ...PLAIN,
    name: 'million',
    title: '1,000,000 blocked domains: 100,000 of them',
    blockedDomains: listedDomains,
    names: () => generate(100_000, (_, random) => listedDomain(random.integer(0, MILLION - 1))),
  },
  {
    ...PLAIN,
    name: 'cached',
    title: 'cached answers: 10,000 names',
    warmUp: CACHED_NAMES,
    names: () => generate(100_000, (_, random) => cachedName(random)),
  },
  {
    ...PLAIN,
    name: 'mix',
    title: 'a mix: 60 % cached, 20 % blocked, 20 % forwarded',
    warmUp: CACHED_NAMES,
    // More than a server answers in one phase, as below.
    names: (phase) => generate(3 * MILLION, (i, random) => mixedName(phase, i, random)),
  },
  {
    ...PLAIN,
    name: 'forwarded',
    title: 'forwarded questions, each for a new name',
    names: (phase) => generate(MILLION, (i) => newName(phase, i)),
  },
  overStreams('tcp', 'TCP, 8 connections', { transport: 'tcp', connections: 8 }),
  overStreams('dot', 'TLS, 8 connections', { transport: 'dot', connections: 8 }),
  overStreams('doh', 'HTTPS, 8 connections of 20 streams', {
    transport: 'doh',
    connections: 8,
    streams: 20,
  }),
  overStreams('doh-64', 'HTTPS, 64 connections of 2 streams', {
    transport: 'doh',
    connections: 64,
    streams: 2,
  }),
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

/** A forwarded name must not be asked twice, in no phase. */
const newName = (phase: PhaseName, i: number): string => `${phase}-${i}.new.${ORIGIN}`;

function mixedName(phase: PhaseName, i: number, random: Random): string {
  const kind = i % 5;
  if (kind === 1) return `host-${random.integer(0, NAMES - 1)}.${BLOCKED_ZONE}`;
  return kind === 3 ? newName(phase, i) : cachedName(random);
}

const cachedName = (random: Random): string => random.pick(CACHED_NAMES);

function generate(times: number, make: (i: number, random: Random) => string): Iterable<string> {
  const random = new Random(1);
  return new Array(times).keys().map((i) => make(i, random));
}
