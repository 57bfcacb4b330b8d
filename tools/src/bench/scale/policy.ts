/*
 * The policy by itself, with the share of the full size that is the argument: memory, decisions and changes. A process
 * of its own, which bench:scale starts; it tells its figures.
 */
import { CatalogueImage } from '@weir/catalogue';
import { fromRow, type Operation } from '@weir/config-model';
import { hashDomain, SuffixHashes, toWireName } from '@weir/dns-name';
import { ChunkMemory, type Client, Decision, Policy, Reason, sharedBytes } from '@weir/policy';
import { useHugePages } from '@weir/udp-batch';
import { Random } from '../../deployment/random.js';
import { percentile } from '../../figures.js';
import { helperArgument, tellMain } from '../../services/helper.js';
import {
  compileDomains,
  draw,
  drawName,
  KEY,
  makeRows,
  nameOf,
  partsOf,
  type Question,
  type Size,
  sizeOf,
} from './configuration.js';

/** What the process tells. */
export interface PolicyFigures {
  readonly size: Size;
  /** Processor time by outcome, in ns. Hashing the name comes on top of a decision. */
  readonly decide: Readonly<Record<string, { readonly decideNs: number; readonly hashNs: number }>>;
  /** The same with orders. */
  readonly decideOrdered: PolicyFigures['decide'];
  /** Bytes by part. */
  readonly memory: Readonly<Record<string, number>>;
  readonly orders: number;
  readonly catalogueBytes: number;
  /** Changes that put a domain rule, by wall time. */
  readonly changeUs: { readonly p50: number; readonly p99: number };
}

/** A time of day at which no schedule switches. */
const NOW_MS = Date.UTC(2026, 0, 7);
const NAME_BYTES = 64;
const LABELS = 5;
const NAMES = 1_000_000;
const MAX_TRIES = 500;
const ROUNDS = 5;
const ORDERS = 1_000_000;
const MIN_MEASURED_US = 200_000;

/** What decides a query, by the name that reports have for it, with the letter of its names. Null: all queries. */
const OUTCOMES = {
  'no profile': [Reason.noProfile, 'n'],
  'nothing matches': [Reason.none, 'n'],
  'domain rule': [Reason.domainRule, 'r'],
  'application rule': [Reason.applicationRule, 'a'],
  category: [Reason.category, 'c'],
  white_list_only: [Reason.whiteListOnly, 'n'],
  'Zipf names, a third behind NAPT': [null, null],
} as const;
type Outcome = (typeof OUTCOMES)[keyof typeof OUTCOMES];

/** Queries: wire names in one buffer, addresses beside them, read in order as packets are. */
class Queries {
  readonly names = new Uint8Array(this.count * NAME_BYTES);
  private readonly words = new Uint32Array(this.count * 4);
  private readonly families = new Uint8Array(this.count);
  private readonly ports = new Uint16Array(this.count);

  constructor(readonly count: number) {}

  set(i: number, { words, port, letter, n }: Question): void {
    this.names.set(toWireName(nameOf(letter, n, LABELS)), i * NAME_BYTES);
    this.families[i] = words.length === 1 ? 4 : 6;
    this.words.fill(0, i * 4, i * 4 + 4).set(words, i * 4);
    this.ports[i] = port;
  }

  /** Fills `client` with query i. @returns the offset of its name. */
  load(i: number): number {
    client.family = this.families[i] === 4 ? 4 : 6;
    for (let word = 0; word < 4; word++) client.words[word] = this.words[i * 4 + word];
    client.port = this.ports[i];
    return i * NAME_BYTES;
  }
}

const share = helperArgument() as number;
const size = sizeOf(share);
const random = new Random(4_711);
const client: Client = { family: 4, words: new Uint32Array(4), port: 0 };
const hashes = new SuffixHashes(KEY);
const out = new Decision();
const memory = new ChunkMemory(useHugePages);
const policy = new Policy({ timeZone: 'Europe/Berlin', memory });
for (const { kind, rows } of partsOf(makeRows(size))) policy.load(kind, rows);
policy.setRevision(1);
const { image } = compileDomains(size.domains);
// In memory as a resolver has it.
const shared = sharedBytes(image.length);
useHugePages(shared);
shared.set(image);
policy.setCatalogue(CatalogueImage.open(shared, KEY));
const queries = Math.max(4_096, Math.round(131_072 * share));
const decide = measureDecisions(queries);
const changeUs = measureChanges(Math.max(200, Math.round(20_000 * share)));
const orders = Math.round(ORDERS * share);
putOrders(orders);
tellMain({
  size,
  decide,
  decideOrdered: measureDecisions(queries),
  memory: { ...policy.memory() },
  orders,
  catalogueBytes: image.length,
  changeUs,
} satisfies PolicyFigures);

/** Puts this many orders, for names that nobody asks for. */
function putOrders(count: number): void {
  const texts = { authority: 'District Court', reference: '1 A 23/26' };
  for (let id = 0; id < count; id++) {
    const entity = { id, domainHash: hashDomain(nameOf('o', id), KEY), until: null, ...texts };
    policy.put({ type: 'put', kind: 'order', entity });
  }
}

function hashAll(queries: Queries): void {
  for (let i = 0; i < queries.count; i++) hashes.compute(queries.names, queries.load(i));
}

function decideAll(queries: Queries): void {
  for (let i = 0; i < queries.count; i++) {
    hashes.compute(queries.names, queries.load(i));
    policy.decide(client, hashes, NOW_MS, out);
  }
}

/** This many queries with this outcome. */
function drawQueries([wanted, letter]: Outcome, count: number): Queries {
  const queries = new Queries(count);
  for (let i = 0, tries = 0; i < count; tries++) {
    if (tries > count * MAX_TRIES) throw new Error(`no queries with the outcome ${wanted}`);
    const question = draw(size, NAMES, random);
    if (letter !== null && letter !== 'r') {
      Object.assign(question, { letter, n: drawName(letter, size, random) });
    }
    if (wanted === Reason.noProfile) question.words = [0x0b00_0000 | random.integer(0, 0xff_ffff)];
    queries.set(i, question);
    hashes.compute(queries.names, queries.load(i));
    policy.decide(client, hashes, NOW_MS, out);
    if (wanted === null || out.reason === wanted) i++;
  }
  return queries;
}

function measureDecisions(count: number): PolicyFigures['decide'] {
  const pools = Object.entries<Outcome>(OUTCOMES).map(
    ([name, outcome]) => [name, drawQueries(outcome, count)] as const,
  );
  // Before anything is measured, all of it is compiled for every kind of query.
  for (const [, queries] of pools) decideAll(queries);
  const figures = pools.map(([name, queries]) => {
    const [hash, decide]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      hash.push(nsEach(hashAll, queries));
      decide.push(nsEach(decideAll, queries) - hash[round]);
    }
    return [name, { hashNs: percentile(hash, 0.5), decideNs: percentile(decide, 0.5) }] as const;
  });
  return Object.fromEntries(figures);
}

/** Runs again until the kernel's clock of processor time, which may tick every 4 ms only, says enough. */
function nsEach(run: (queries: Queries) => void, queries: Queries): number {
  const before = process.threadCpuUsage();
  for (let runs = 1; ; runs++) {
    run(queries);
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= MIN_MEASURED_US) return ((user + system) / (runs * queries.count)) * 1_000;
  }
}

function measureChanges(count: number): PolicyFigures['changeUs'] {
  const changes = Array.from({ length: count }, (): Operation => {
    const row = [random.integer(0, size.profiles - 1), random.integer(0, 2 ** 52), 2];
    return { type: 'put', kind: 'domainRule', entity: fromRow('domainRule', row) };
  });
  const tookUs = changes.map((operation) => {
    const startedMs = performance.now();
    policy.apply({ revision: policy.revision + 1, digest: '', operations: [operation] });
    return (performance.now() - startedMs) * 1_000;
  });
  return { p50: percentile(tookUs, 0.5), p99: percentile(tookUs, 0.99) };
}
