import { numberOptions } from './number-options.mjs';
import { runSteps } from './steps.mjs';

const HELP = `npm run test:fuzz -- [--count 1000000] [--streams 10000] [--seed N]

Runs the fuzz tests of the resolver, with more packets and streams than npm test.
count: packets
streams: over TLS and HTTPS
seed: of a run that failed, which names it`;

const options = numberOptions(HELP, { count: '1000000', streams: '10000', seed: undefined });
process.env['FUZZ_COUNT'] = options.count;
process.env['FUZZ_STREAMS'] = options.streams;
if (options.seed !== undefined) process.env['FUZZ_SEED'] = options.seed;
runSteps([
  [
    'Fuzz',
    'vitest',
    ['run', '--project', 'integration', 'apps/resolver/src/integration/fuzz.int.spec.ts'],
  ],
]);
