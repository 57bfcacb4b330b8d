// node tools/bench/policy/huge-pages.mjs [--share 0.5] [--rounds 15] [--huge-first]
//
// Decisions of the same policy and catalogue with and without huge pages, both in one process, in turns: a busy machine
// disturbs both alike. Processor time, medians and the best of all rounds; the size is a share of the largest one.
import { CatalogueImage } from '@weir/catalogue';
import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { Decision, Policy, Reason, sharedBytes } from '@weir/policy';
import { parseArgs } from 'node:util';
import {
  compileDomains,
  entriesOf,
  makeDefinition,
  makeRows,
  partsOf,
  sizeOf,
} from './configuration.mjs';
import { hugeMb, hugePagesFor, memoryOf } from './memory.mjs';
import { makeQueries } from './queries.mjs';
import { threadMs } from './thread-clock.mjs';

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '0.5' },
    rounds: { type: 'string', default: '15' },
    'huge-first': { type: 'boolean', default: false },
  },
});
const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const NOW_MS = Date.UTC(2026, 0, 7);
const QUERIES = 1 << 15;
const size = sizeOf(values.share);
const rounds = Number(values.rounds);
const print = (line) => process.stdout.write(`${line}\n`);
const rssMb = () => process.memoryUsage.rss() / 2 ** 20;

const compiled = compileDomains(size.domains, KEY).image;

function build(isHuge) {
  const [rssBefore, hugeBefore, before] = [rssMb(), hugeMb(), threadMs()];
  const policy = new Policy({ timeZone: 'Europe/Berlin', memory: memoryOf(isHuge) });
  for (const [kind, rowsOf] of entriesOf(makeRows(size, KEY))) {
    for (const part of partsOf(rowsOf())) policy.load(kind, part);
  }
  policy.setRevision(1);
  const image = sharedBytes(compiled.length, hugePagesFor(isHuge));
  image.set(compiled);
  policy.setCatalogue(CatalogueImage.open(image, KEY));
  print(
    `${isHuge ? 'huge ' : 'small'} pages: loaded in ${(threadMs() - before).toFixed(0)} ms; ` +
      `${(rssMb() - rssBefore).toFixed(0)} MiB more resident, ${(hugeMb() - hugeBefore).toFixed(0)} of it huge`,
  );
  return policy;
}

const order = values['huge-first'] ? [true, false] : [false, true];
const built = new Map(order.map((isHuge) => [isHuge, build(isHuge)]));
const names = new SuffixHashes(KEY);
/** @type {import('@weir/policy').Client} */
const client = { family: 4, words: new Uint32Array(4), port: 0 };
const out = new Decision();
const tools = { names, client, out };
const pools = makeQueries(
  built.get(false),
  tools,
  size,
  makeDefinition(size.domains),
  QUERIES,
  Reason,
);

let sum = 0;
function nsEach(policy, queries) {
  const before = threadMs();
  for (let i = 0; i < queries.count; i++) {
    names.compute(queries.names, queries.load(i, client));
    if (policy !== null) sum += policy.decide(client, names, NOW_MS, out);
  }
  return ((threadMs() - before) / queries.count) * 1e6;
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const best = (list) => Math.min(...list);
for (const queries of Object.values(pools)) {
  for (const policy of [null, ...built.values()]) nsEach(policy, queries);
}
for (const [outcome, queries] of Object.entries(pools)) {
  /** @type {Record<'hash' | 'small' | 'huge', number[]>} */
  const times = { hash: [], small: [], huge: [] };
  for (let round = 0; round < rounds; round++) {
    times.hash.push(nsEach(null, queries));
    for (const isHuge of round % 2 === 0 ? [false, true] : [true, false]) {
      times[isHuge ? 'huge' : 'small'].push(nsEach(built.get(isHuge), queries));
    }
  }
  const of = (take) => ({
    small: take(times.small) - take(times.hash),
    huge: take(times.huge) - take(times.hash),
  });
  const text = ({ small, huge }) =>
    `${small.toFixed(0)} and ${huge.toFixed(0)} ns (${(huge / small).toFixed(2)})`;
  print(`${outcome.padEnd(32)} median ${text(of(median))}, best ${text(of(best))}`);
}
if (Number.isNaN(sum)) print('');
