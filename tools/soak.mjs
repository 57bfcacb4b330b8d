import { parseArgs } from 'node:util';
import { runSteps } from './steps.mjs';

const HELP = `npm run test:soak -- [--seconds 300] [--rate 1500]

Runs the soak test of the resolver, longer and with more load than npm test.
seconds: of load
rate: queries a second`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    seconds: { type: 'string', default: '300' },
    rate: { type: 'string', default: '1500' },
  },
});
if (values.help) {
  process.stdout.write(`${HELP}\n`);
  process.exit();
}
process.env['SOAK_SECONDS'] = values.seconds;
process.env['SOAK_RATE'] = values.rate;
runSteps([
  [
    'Soak',
    'vitest',
    ['run', '--project', 'integration', 'apps/resolver/src/integration/soak.int.spec.ts'],
  ],
]);
