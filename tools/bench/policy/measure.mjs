// One size (a name or a share of the largest), in a process of its own: loads, decides, changes; prints one JSON
// object. Started by run.mjs and by bench:scale.
import { CatalogueImage } from '@weir/catalogue';
import { parseHashKey, SuffixHashes } from '@weir/dns-name';
import { Decision, Policy, Reason, sharedBytes } from '@weir/policy';
import { PerformanceObserver } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { measureChanges } from './changes.mjs';
import {
  compileDomains,
  effortOf,
  entriesOf,
  makeDefinition,
  makeRows,
  partsOf,
  sizeOf,
  SIZES,
} from './configuration.mjs';
import { measureFloor } from './floor.mjs';
import { hugeMb, hugePagesFor, memoryOf } from './memory.mjs';
import { measureLatency } from './memory-latency.mjs';
import { makeQueries } from './queries.mjs';
import { threadMs as cpuMs } from './thread-clock.mjs';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const NOW_MS = Date.UTC(2026, 0, 7);
const ROUNDS = 5;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'huge-pages': { type: 'boolean', default: false } },
});
const [sizeName, domainsText] = positionals;
const isHuge = values['huge-pages'];
const size = {
  ...sizeOf(sizeName),
  ...(domainsText !== undefined && { domains: Number(domainsText) }),
};
const QUERIES = effortOf(sizeName, 1 << 17, 1 << 12);
const CHANGES = effortOf(sizeName, 20_000, 200);

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const definition = makeDefinition(size.domains);

const policy = new Policy({ timeZone: 'Europe/Berlin', memory: memoryOf(isHuge) });
const rows = makeRows(size, KEY);
const loadMs = {};
const startMs = cpuMs();
for (const [kind, rowsOf] of entriesOf(rows)) {
  const beforeMs = cpuMs();
  for (const part of partsOf(rowsOf())) policy.load(kind, part);
  loadMs[kind] = cpuMs() - beforeMs;
}
const digest = policy.digest();
loadMs.all = cpuMs() - startMs;
policy.setRevision(1);

const compiled = compileDomains(size.domains, KEY).image;
const image = sharedBytes(compiled.length, hugePagesFor(isHuge));
image.set(compiled);
const openedMs = cpuMs();
const catalogue = CatalogueImage.open(image, KEY);
loadMs.catalogue = cpuMs() - openedMs;
policy.setCatalogue(catalogue);

const names = new SuffixHashes(KEY);
/** @type {import('@weir/policy').Client} */
const client = { family: 4, words: new Uint32Array(4), port: 0 };
const out = new Decision();
const tools = { names, client, out };
const pools = makeQueries(policy, tools, size, definition, QUERIES, Reason);

let sum = 0;
function hashAll(queries) {
  for (let i = 0; i < queries.count; i++)
    sum += names.compute(queries.names, queries.load(i, client));
}
function decideAll(queries) {
  const nowMs = NOW_MS;
  for (let i = 0; i < queries.count; i++) {
    names.compute(queries.names, queries.load(i, client));
    sum += policy.decide(client, names, nowMs, out);
  }
}
function identifyAll(queries) {
  const nowMs = NOW_MS;
  for (let i = 0; i < queries.count; i++) {
    names.compute(queries.names, queries.load(i, client));
    policy.identify(client, nowMs, out);
    sum += out.profileId;
  }
}
function nsEach(run, queries) {
  const beforeMs = cpuMs();
  run(queries);
  return ((cpuMs() - beforeMs) / queries.count) * 1e6;
}

/** What memory itself costs; bench:scale, which names a share, does not print it. */
function measureMemory() {
  const held = policy.memory();
  const { floor } = measureFloor(
    {
      roots: 2 ** 16 * 4,
      nodes: held.ipv4Networks + held.ipv6Networks + held.naptRanges,
      records: size.profiles * 32,
      lists: held.profiles - size.profiles * 32,
      rules: held.domainRules,
      filter: size.domains * (10 / 8),
      hashes: size.domains * 8,
      setNumbers: size.domains * 2,
    },
    cpuMs,
  );
  return { latency: measureLatency(cpuMs), floor };
}

const { latency, floor } = sizeName in SIZES ? measureMemory() : { latency: null, floor: {} };
const decide = {};
for (const queries of Object.values(pools)) {
  hashAll(queries);
  decideAll(queries);
  identifyAll(queries);
}
for (const [outcome, queries] of Object.entries(pools)) {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const hash = nsEach(hashAll, queries);
    return [hash, nsEach(decideAll, queries) - hash, nsEach(identifyAll, queries) - hash];
  });
  decide[outcome] = {
    hashNs: median(rounds.map(([hash]) => hash)),
    decideNs: median(rounds.map(([, ns]) => ns)),
    identifyNs: median(rounds.map(([, , ns]) => ns)),
    floorNs: floor[outcome],
  };
}

const collections = [];
const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
observer.observe({ entryTypes: ['gc'] });
const changes = await measureChanges(policy, size, CHANGES, collections);
observer.disconnect();

const result = {
  size,
  loadMs,
  digest,
  memory: policy.memory(),
  catalogueBytes: image.length,
  catalogueDomains: catalogue.domainCount,
  rssMb: process.memoryUsage.rss() / 2 ** 20,
  hugeMb: hugeMb(),
  latency,
  decide,
  changes,
  sum,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
