/**
 * How fast changes come into force: `npm run bench:propagation -- --help`. Real processes on loopback; PostgreSQL with
 * its default durability. It prints the load of the machine, because other work on the cores makes every figure worse.
 */
import { list, name, optionsOrExit, print, value } from '../command.js';
import { percentile } from '../figures.js';
import { describeLoad, describeMachine, measureLatencies, shareOf } from './figures.js';
import { measureBatch } from './propagation-batch.js';
import { nextPage, withDeployment } from './deployment.js';

type Figures = Readonly<Record<string, number>>;

const ROUNDS = shareOf(3);
const WARM_UP = shareOf(300);
const CHANGES = shareOf(1_000);

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  latency: async () => {
    for (const resolvers of [1, 3, 10]) {
      await repeat(`latency, ${resolvers} resolvers (ms)`, () => measureLatency(resolvers));
    }
  },
  batch: async () => {
    for (const domains of [1_000, 10_000].map(shareOf)) {
      await repeat(`batch of ${domains} domains (ms)`, () => measureBatch(domains));
    }
  },
};
const NAMES = Object.keys(PARTS);

const HELP = `npm run bench:propagation -- [--parts NAMES]

Measures how fast changes come into force.
parts: ${NAMES.join(', ')}; all of them if not given. Names are separated by commas
  latency: single changes of one client
  batch: one batch of domain rules, and what others notice of it`;

const { parts } = optionsOrExit(HELP, { parts: value(list(name(NAMES)), NAMES) });
print(describeMachine());
for (const part of parts) await PARTS[part]();

async function repeat(title: string, measure: () => Promise<Figures>): Promise<void> {
  const rounds: Figures[] = [];
  for (let i = 0; i < ROUNDS; i++) rounds.push(await measure());
  for (const name of Object.keys(rounds[0])) {
    const values = rounds.map((round) => round[name]);
    const all = values.map((value) => value.toFixed(1)).join(', ');
    const median = percentile(values, 0.5).toFixed(1);
    print(`${title}: ${name} ${median} (rounds ${all}; ${describeLoad()})`);
  }
}

/** One writer, one change after the other: from the request to the 2xx, when it is in force on every resolver. */
function measureLatency(resolvers: number): Promise<Figures> {
  return withDeployment({ resolvers }, async (_deployment, client) => {
    for (const id of [1, 2]) await client.change('POST', '/blockpage/', { id, type: 1 });
    await client.change('POST', '/profiles/', { profile: { id: 1 } });
    for (let n = 0; n < WARM_UP; n++) await nextPage(client, 1, n);
    let late = 0;
    const latencies = await measureLatencies(
      async (n) => {
        const { applied, total } = await nextPage(client, 1, n + WARM_UP);
        if (applied !== resolvers || total !== resolvers) late++;
      },
      (n) => n < CHANGES,
    );
    return {
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      'not in force everywhere within a second': late,
    };
  });
}
