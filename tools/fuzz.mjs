// `npm run test:fuzz -- [--count 1000000] [--streams 10000] [--seed n]`: runs the fuzz tests of the resolver with many
// more packets, and streams over TLS and HTTPS, than `npm test`.
import { parseArgs } from 'node:util';
import { runSteps } from './steps.mjs';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    streams: { type: 'string', default: '10000' },
    seed: { type: 'string' },
  },
});
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
