/**
 * How fast changes come into force: `npm run bench:propagation -- --help`. Real processes on loopback; PostgreSQL with
 * its default durability. It prints the load of the machine, because other work on the cores makes every figure worse.
 */
import { fail, print } from '../output.js';
import { describeLoad, describeMachine } from './machine.js';
import { measureBatch } from './propagation-batches.js';
import { measureLatency, measureThroughput } from './propagation-changes.js';
import { measureReconciliation } from './propagation-reconciliation.js';
import { measureCatchUp, measureSnapshot } from './propagation-recovery.js';
import { shareOf } from './share.js';

const ROUNDS = shareOf(3);

const PARTS: Record<string, () => Promise<void>> = {
  latency: async () => {
    for (const resolvers of [1, 3, 10]) {
      await repeat(`latency, ${resolvers} resolvers (ms)`, () => measureLatency(resolvers));
    }
  },
  throughput: async () => {
    for (const writers of [1, 16]) {
      const title = `throughput, 3 resolvers, ${writers} writers (changes/s)`;
      await repeat(title, () => measureThroughput(writers));
    }
  },
  batch: async () => {
    for (const domains of [1_000, 10_000, 100_000].map(shareOf)) {
      await repeat(`batch of ${domains} domains (ms)`, () => measureBatch(domains));
    }
  },
  'catch-up': () => repeat('catch-up after 10,000 missed changes (ms)', measureCatchUp),
  snapshot: () => repeat('1,000,000 networks and 1,000,000 rules', measureSnapshot),
  reconciliation: () =>
    repeat('POST /init/ of 1 M networks and 1 M domains, 3 resolvers', measureReconciliation),
};

const HELP = `npm run bench:propagation -- [part …]

Measures how fast changes come into force, and how fast a resolver catches up.
The parts, all by default: ${Object.keys(PARTS).join(', ')}`;

async function repeat(
  title: string,
  measure: () => Promise<Record<string, number>>,
): Promise<void> {
  const rounds: Record<string, number>[] = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await measure());
  const [first = {}] = rounds;
  for (const name of Object.keys(first)) {
    const values = rounds.map((round) => round[name] ?? Number.NaN).sort((a, b) => a - b);
    const [median = Number.NaN] = values.slice(Math.floor(values.length / 2));
    const all = values.map((value) => value.toFixed(1)).join(', ');
    print(`${title}: ${name} ${median.toFixed(1)} (rounds ${all}; ${describeLoad()})`);
  }
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((part) => !(part in PARTS));
if (wanted.includes('--help')) print(HELP);
else if (unknown.length > 0) fail(`no such part: ${unknown.join(', ')}\n\n${HELP}`);
else await run();

async function run(): Promise<void> {
  print(describeMachine());
  for (const [name, measure] of Object.entries(PARTS)) {
    if (wanted.length === 0 || wanted.includes(name)) await measure();
  }
}
