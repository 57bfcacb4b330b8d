// `npm run test:soak -- [--seconds 300] [--rate 1500]`: runs the soak test of the resolver, longer and with more
// load than `npm test`.
import { parseArgs } from 'node:util';
import { runSteps } from './steps.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    rate: { type: 'string', default: '1500' },
  },
});
process.env['SOAK_SECONDS'] = values.seconds;
process.env['SOAK_RATE'] = values.rate;
runSteps([
  [
    'Soak',
    'vitest',
    ['run', '--project', 'integration', 'apps/resolver/src/integration/soak.int.spec.ts'],
  ],
]);
