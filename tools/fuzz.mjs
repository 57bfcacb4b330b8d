// `npm run test:fuzz -- [--count 1000000] [--seed n]`: runs the fuzz test of the resolver with many more packets
// than `npm test`.
import { parseArgs } from 'node:util';
import { runSteps } from './steps.mjs';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '1000000' }, seed: { type: 'string' } },
});
process.env['FUZZ_COUNT'] = values.count;
if (values.seed !== undefined) process.env['FUZZ_SEED'] = values.seed;
runSteps([
  [
    'Fuzz',
    'vitest',
    ['run', '--project', 'integration', 'apps/resolver/src/integration/fuzz.int.spec.ts'],
  ],
]);
