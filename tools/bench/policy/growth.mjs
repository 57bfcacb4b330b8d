// node tools/bench/policy/growth.mjs [--tables 10000]
//
// Memory of a policy's data structures by the order in which entries came: all at once, in turns, at random, and
// after deletions. Bytes are exact and the same at every run; ns a change are processor time of the one thread.
// 100,000 tables of a hundred rules are 10 M rules, as many as the largest size of bench:policy.
import { parseArgs } from 'node:util';
import { REFERENCE_WORDS } from '../../../libs/policy/dist/memory/pair-reference.js';
import { PairTables } from '../../../libs/policy/dist/memory/pair-tables.js';
import { Ipv4Networks } from '../../../libs/policy/dist/subscribers/ipv4-networks.js';
import { Ipv6Networks } from '../../../libs/policy/dist/subscribers/ipv6-networks.js';
import { NaptRanges } from '../../../libs/policy/dist/subscribers/napt-ranges.js';
import { randomNumbers } from './names.mjs';

const { values } = parseArgs({ options: { tables: { type: 'string', default: '10000' } } });
const TABLES = Number(values.tables);
const RULES = 100;
const ALL = TABLES * RULES;
const NETWORKS = Math.min(1_000_000, ALL);

/** Another word for each word, as if by chance. */
function scattered(i) {
  const mixed = Math.imul(i ^ (i >>> 16), 0x85eb_ca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
}

class Rules {
  tables = new PairTables(0x1f_ffff);
  references = new Int32Array(TABLES * REFERENCE_WORDS);
  sizes = new Int32Array(TABLES);
  size = 0;
  changes = 0;

  get bytes() {
    return this.tables.bytes;
  }

  put(table) {
    const a = scattered(table * 1_000_003 + this.sizes[table]++);
    this.tables.set(this.references, table * REFERENCE_WORDS, a, 1 << 21);
    this.size++;
    this.changes++;
  }

  /** Its latest. */
  delete(table) {
    if (this.sizes[table] === 0) return;
    const a = scattered(table * 1_000_003 + --this.sizes[table]);
    this.tables.delete(this.references, table * REFERENCE_WORDS, a, 0);
    this.size--;
    this.changes++;
  }

  inTurns(most = RULES) {
    for (let n = 0; n < most; n++) for (let table = 0; table < TABLES; table++) this.put(table);
  }

  byChance(pick) {
    for (let i = 0; i < ALL; i++) this.put(pick());
  }
}

/** Picks tables so that the one of rank n has a share in proportion to n ** -0.8. */
function zipf(random) {
  const sums = new Float64Array(TABLES);
  for (let i = 0, sum = 0; i < TABLES; i++) sums[i] = sum += (i + 1) ** -0.8;
  return () => {
    const sought = (random() / 2 ** 32) * sums[TABLES - 1];
    let [low, high] = [0, TABLES - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle] < sought) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

const RULE_ROWS = {
  'rules, at once': (rules) => {
    for (let table = 0; table < TABLES; table++) for (let n = 0; n < RULES; n++) rules.put(table);
  },
  'rules, in turns to 10 a table': (rules) => rules.inTurns(10),
  'rules, in turns to 50 a table': (rules) => rules.inTurns(50),
  'rules, in turns to 100 a table': (rules) => rules.inTurns(),
  'rules, by chance': (rules, any) => rules.byChance(any),
  'rules, by chance, zipf 0.8': (rules, _any, random) => rules.byChance(zipf(random)),
  'rules, by chance, then four times as many put or deleted': (rules, any, random) => {
    rules.byChance(any);
    for (let i = 0; i < 4 * ALL; i++) {
      if (random() >>> 31) rules.put(any());
      else rules.delete(any());
    }
  },
  'rules, tables of up to 300 replaced as a whole, thrice': (rules, any, random) => {
    for (let i = 0; i < 4 * TABLES; i++) {
      const table = any();
      while (rules.sizes[table] > 0) rules.delete(table);
      for (let n = 1 + (random() % 300); n > 0; n--) rules.put(table);
    }
  },
  'rules, in turns to 100, then to 20': (rules) => {
    rules.inTurns();
    for (let n = RULES; n > 20; n--)
      for (let table = 0; table < TABLES; table++) rules.delete(table);
  },
};

const words = new Uint32Array(4);
const networks4 = {
  create: () => new Ipv4Networks(),
  put: (networks, i) => networks.set(words.fill(scattered(i), 0, 1), 32, i),
  delete: (networks, i) => networks.delete(words.fill(scattered(i), 0, 1), 32),
  count: NETWORKS,
};
const network6Of = (i) => words.fill(0x2001_0db8, 0, 1).fill(scattered(i), 1, 2).fill(0, 2);
const networks6 = {
  create: () => new Ipv6Networks(),
  put: (networks, i) => networks.set(network6Of(i), 64, i),
  delete: (networks, i) => networks.delete(network6Of(i), 64),
  count: NETWORKS / 5,
};
const RANGES = 64;
const putRange = (ranges, address, n) =>
  ranges.set(0x6440_0000 + address, n * 1024, n * 1024 + 1023, n);

const OTHER_ROWS = {
  'IPv4 networks, scattered, at once': () => filled(networks4),
  'IPv4 networks, twice replaced one by one': () => replaced(networks4),
  'IPv6 networks, scattered, at once': () => filled(networks6),
  'IPv6 networks, twice replaced one by one': () => replaced(networks6),
  'NAPT ranges, at once': () => {
    const ranges = new NaptRanges();
    for (let address = 0; address < TABLES; address++) {
      for (let n = 0; n < RANGES; n++) putRange(ranges, address, n);
    }
    return { of: ranges, changes: TABLES * RANGES };
  },
  'NAPT ranges, in turns to 64 an address': () => {
    const ranges = new NaptRanges();
    for (let n = 0; n < RANGES; n++) {
      for (let address = 0; address < TABLES; address++) putRange(ranges, address, n);
    }
    return { of: ranges, changes: TABLES * RANGES };
  },
};

function filled({ create, put, count }) {
  const networks = create();
  for (let i = 0; i < count; i++) put(networks, i);
  return { of: networks, changes: count };
}

function replaced(kind) {
  const { of, changes } = filled(kind);
  for (let i = 0; i < 2 * kind.count; i++) {
    kind.delete(of, i);
    kind.put(of, i + kind.count);
  }
  return { of, changes: changes + 4 * kind.count };
}

function measure(title, run) {
  const before = process.threadCpuUsage();
  const { of, changes } = run();
  const { user, system } = process.threadCpuUsage(before);
  const cells = [(of.bytes / of.size).toFixed(1), (((user + system) * 1000) / changes).toFixed(0)];
  process.stdout.write(
    `| ${title} | ${of.size.toLocaleString('en-US')} | ${cells.join(' | ')} |\n`,
  );
}

process.stdout.write('| Entries, and how they came | Entries | Bytes each | ns a change |\n');
process.stdout.write('| --- | ---: | ---: | ---: |\n');
for (const [title, run] of Object.entries(RULE_ROWS)) {
  measure(title, () => {
    const random = randomNumbers(4711);
    const rules = new Rules();
    run(rules, () => random() % TABLES, random);
    return { of: rules, changes: rules.changes };
  });
}
for (const [title, run] of Object.entries(OTHER_ROWS)) measure(title, run);
