import type { SuffixHashes } from '@weir/dns-name';
import { type Client, Decision, type Policy, Reason } from '@weir/policy';
import {
  naptRow,
  network6Row,
  networkRow,
  ownerOf,
  ruleOwner,
  shareNames,
  type Size,
  randomNumbers,
  writeName,
} from './configuration.js';

/** A time of day at which no schedule switches. */
export const NOW_MS = Date.UTC(2026, 0, 7);
const NAME_BYTES = 64;
const LABELS = 5;
const MAX_TRIES = 200;

/** Queries: wire names in one buffer, addresses beside them, read in order as packets are. */
export class Queries {
  readonly names: Uint8Array;
  private readonly words: Uint32Array;
  private readonly families: Uint8Array;
  private readonly ports: Uint16Array;

  constructor(readonly count: number) {
    this.names = new Uint8Array(count * NAME_BYTES);
    this.words = new Uint32Array(count * 4);
    this.families = new Uint8Array(count).fill(4);
    this.ports = new Uint16Array(count);
  }

  name(at: number, letter: string, n: number): void {
    writeName(this.names, at * NAME_BYTES, letter, n, LABELS);
  }

  address(at: number, family: 4 | 6, words: readonly number[], port = 40_000): void {
    this.families[at] = family;
    this.words.fill(0, at * 4, at * 4 + 4).set(words, at * 4);
    this.ports[at] = port;
  }

  /** Fills `client` with query i. @returns the offset of its name. */
  load(i: number, client: Client): number {
    client.family = this.families[i] === 4 ? 4 : 6;
    for (let word = 0; word < 4; word++) client.words[word] = this.words[i * 4 + word] ?? 0;
    client.port = this.ports[i] ?? 0;
    return i * NAME_BYTES;
  }
}

/** What decides a query, by the name that reports have for it. */
const OUTCOMES = {
  'no profile': Reason.noProfile,
  'nothing matches': Reason.none,
  'domain rule': Reason.domainRule,
  'application rule': Reason.applicationRule,
  category: Reason.category,
  white_list_only: Reason.whiteListOnly,
  'Zipf names, a third behind NAPT': null,
} as const;
type Outcome = keyof typeof OUTCOMES;

/** Queries for each outcome. Each was decided once, and those with another outcome were replaced. */
export function makeQueries(
  policy: Policy,
  names: SuffixHashes,
  client: Client,
  size: Size,
  count: number,
): Map<Outcome, Queries> {
  const out = new Decision();
  const all = new Map<Outcome, Queries>();
  for (const [name, wanted] of Object.entries(OUTCOMES)) {
    const outcome = name as Outcome;
    const queries = new Queries(count);
    const random = randomNumbers(outcome.length * 7_919);
    for (let i = 0, tries = 0; i < count; tries++) {
      if (tries > count * MAX_TRIES) throw new Error(`no queries with the outcome: ${outcome}`);
      draft(queries, i, outcome, random, size);
      names.compute(queries.names, queries.load(i, client));
      policy.decide(client, names, NOW_MS, out);
      if (wanted === null || out.reason === wanted) i++;
    }
    all.set(outcome, queries);
  }
  return all;
}

function draft(
  queries: Queries,
  at: number,
  outcome: Outcome,
  random: () => number,
  size: Size,
): void {
  const { categoryDomains, applicationDomains } = shareNames(size.domains);
  queries.name(at, 'n', random());
  if (outcome === 'no profile') {
    queries.address(at, 4, [0x0b00_0000 | (random() & 0xff_ffff)]);
    return;
  }
  if (outcome === 'Zipf names, a third behind NAPT') {
    // Zipf's law with exponent 1 among a million names, every tenth of a category.
    const rank = Math.floor(Math.exp((random() / 2 ** 32) * Math.log(1e6)));
    if (rank % 10 === 0) queries.name(at, 'c', rank % categoryDomains);
    if (random() % 3 === 0) setNaptClient(queries, at, random() % size.napt, random);
    else setIpv4Client(queries, at, random() % size.networks, random);
    return;
  }
  const network = random() % size.networks;
  const kind = random() % 14;
  if (kind < 10) setIpv4Client(queries, at, network, random);
  else if (kind < 12) {
    const [first = 0, second = 0] = network6Row(network % size.networks6, 0);
    queries.address(at, 6, [first, second, 0, random()]);
  } else setNaptClient(queries, at, network % size.napt, random);
  if (outcome === 'domain rule') {
    const id = ownerOf(network, size.profiles);
    const each = size.rules / size.profiles;
    const rule = Math.floor(id * each) + (random() % Math.floor(each));
    if (ruleOwner(rule, size) === id) queries.name(at, 'r', rule);
  }
  if (outcome === 'application rule') queries.name(at, 'a', random() % applicationDomains);
  if (outcome === 'category') queries.name(at, 'c', random() % categoryDomains);
}

function setIpv4Client(queries: Queries, at: number, i: number, random: () => number): void {
  const [address, length] = networkRow(i, 0);
  const host = length === 32 ? 0 : random() & (0xffff_ffff >>> length);
  queries.address(at, 4, [(address | host) >>> 0]);
}

function setNaptClient(queries: Queries, at: number, i: number, random: () => number): void {
  const [address, lowerPort] = naptRow(i, 0);
  queries.address(at, 4, [address], lowerPort + (random() & 1_023));
}
