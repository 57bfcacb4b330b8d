/*
 * The policy by itself, with the share of the full size that is the argument: memory, decisions and changes. A process
 * of its own, which bench:scale starts; it prints one JSON object.
 */
import { CatalogueImage } from '@weir/catalogue';
import { ENTITY_KINDS, fromRow, type Operation, type Row } from '@weir/config-model';
import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { type Client, Decision, Policy, Reason } from '@weir/policy';
import { percentile } from '../../../percentile.js';
import {
  compileDomains,
  makeRows,
  type Size,
  sizeOf,
  randomNumbers,
  naptRow,
  network6Row,
  networkRow,
  ownerOf,
  ruleOwner,
  shareNames,
  writeName,
} from './configuration.js';

/** A time of day at which no schedule switches. */
const NOW_MS = Date.UTC(2026, 0, 7);
const NAME_BYTES = 64;
const LABELS = 5;
const MAX_TRIES = 200;

/** Queries: wire names in one buffer, addresses beside them, read in order as packets are. */
class Queries {
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
function makeQueries(
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

/** What the process prints. */
export interface PolicyFigures {
  readonly size: Size;
  /** Processor time by outcome, in ns. Hashing the name comes on top of a decision. */
  readonly decide: Readonly<Record<string, { readonly decideNs: number; readonly hashNs: number }>>;
  /** Bytes by part. */
  readonly memory: Readonly<Record<string, number>>;
  readonly catalogueBytes: number;
  /** Changes that put a domain rule, by wall time. */
  readonly changeUs: { readonly p50: number; readonly p99: number };
}

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const ROUNDS = 5;
const PART_ROWS = 1_000;

const share = Number(process.argv[2]);
const size = sizeOf(share);
const policy = new Policy({ timeZone: 'Europe/Berlin' });
load();
const image = compileDomains(size.domains, KEY).image;
policy.setCatalogue(CatalogueImage.open(image, KEY));
const names = new SuffixHashes(KEY);
const client: Client = { family: 4, words: new Uint32Array(4), port: 0 };
const figures: PolicyFigures = {
  size,
  decide: measureDecisions(Math.max(4_096, Math.round(131_072 * share))),
  memory: { ...policy.memory() },
  catalogueBytes: image.length,
  changeUs: measureChanges(Math.max(200, Math.round(20_000 * share))),
};
process.stdout.write(`${JSON.stringify(figures)}\n`);

function load(): void {
  const rows = makeRows(size, KEY);
  for (const kind of ENTITY_KINDS) {
    let part: Row[] = [];
    for (const row of rows[kind]?.() ?? []) {
      part.push(row);
      if (part.length < PART_ROWS) continue;
      policy.load(kind, part);
      part = [];
    }
    policy.load(kind, part);
  }
  policy.setRevision(1);
}

function measureDecisions(count: number): PolicyFigures['decide'] {
  const out = new Decision();
  const hash = (queries: Queries): void => {
    for (let i = 0; i < queries.count; i++) names.compute(queries.names, queries.load(i, client));
  };
  const decide = (queries: Queries): void => {
    for (let i = 0; i < queries.count; i++) {
      names.compute(queries.names, queries.load(i, client));
      policy.decide(client, names, NOW_MS, out);
    }
  };
  const pools = [...makeQueries(policy, names, client, size, count)];
  // Before anything is measured, all of it is compiled for every kind of query.
  for (const [, queries] of pools) decide(queries);
  return Object.fromEntries(
    pools.map(([outcome, queries]) => {
      const rounds = Array.from({ length: ROUNDS }, () => {
        const hashNs = nsEach(hash, queries);
        return { hashNs, decideNs: nsEach(decide, queries) - hashNs };
      });
      const median = (figure: 'hashNs' | 'decideNs'): number =>
        percentile(
          rounds.map((round) => round[figure]),
          0.5,
        );
      return [outcome, { hashNs: median('hashNs'), decideNs: median('decideNs') }];
    }),
  );
}

function nsEach(run: (queries: Queries) => void, queries: Queries): number {
  const before = process.threadCpuUsage();
  run(queries);
  const { user, system } = process.threadCpuUsage(before);
  return ((user + system) / queries.count) * 1_000;
}

function measureChanges(count: number): PolicyFigures['changeUs'] {
  const random = randomNumbers(4_711);
  const changes = Array.from({ length: count }, () => {
    const row = [random() % size.profiles, random() * 2 ** 20 + (random() % 2 ** 20), 2];
    const operation: Operation = {
      type: 'put',
      kind: 'domainRule',
      entity: fromRow('domainRule', row),
    };
    return [operation];
  });
  const tookUs = changes.map((operations) => {
    const startedMs = performance.now();
    policy.apply({ revision: policy.revision + 1, digest: '', operations });
    return (performance.now() - startedMs) * 1_000;
  });
  return { p50: percentile(tookUs, 0.5), p99: percentile(tookUs, 0.99) };
}
