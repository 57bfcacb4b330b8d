/*
 * The policy by itself, with the share of the full size that is the argument: memory, decisions and changes. A process
 * of its own, which bench:scale starts; it prints one JSON object.
 */
import { CatalogueImage } from '@weir/catalogue';
import { ENTITY_KINDS, fromRow, type Operation, type Row } from '@weir/config-model';
import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { type Client, Decision, Policy } from '@weir/policy';
import { percentile } from '../../../percentile.js';
import { compileDomains, makeRows, type Size, sizeOf, randomNumbers } from './configuration.js';
import { makeQueries, NOW_MS, type Queries } from './queries.js';

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
