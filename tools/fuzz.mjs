import { parseArgs } from 'node:util';
import { runSteps } from './steps.mjs';

const HELP = `npm run test:fuzz -- [--count 1000000] [--streams 10000] [--seed N]

Runs the fuzz tests of the resolver, with more packets and streams than npm test.
count: packets
streams: over TLS and HTTPS
seed: of a run that failed, which names it`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    count: { type: 'string', default: '1000000' },
    streams: { type: 'string', default: '10000' },
    seed: { type: 'string' },
  },
});
if (values.help) {
  process.stdout.write(`${HELP}\n`);
  process.exit();
}
process.env['FUZZ_COUNT'] = values.count;
process.env['FUZZ_STREAMS'] = values.streams;
if (values.seed !== undefined) process.env['FUZZ_SEED'] = values.seed;
runSteps([
  [
    'Fuzz',
    'vitest',
    ['run', '--project', 'integration', 'apps/resolver/src/integration/fuzz.int.spec.ts'],
  ],
]);
