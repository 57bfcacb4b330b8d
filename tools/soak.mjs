import { numberOptions } from './number-options.mjs';
import { runSteps } from './steps.mjs';

const HELP = `npm run test:soak -- [--seconds 300] [--rate 1500] [--threads 0]

Runs the soak test of the resolver, longer and with more load than npm test.
seconds: of load
rate: queries a second
threads: RESOLVER_THREADS of the resolver; 0 is the way without lanes`;

const options = numberOptions(HELP, { seconds: '300', rate: '1500', threads: undefined });
process.env['SOAK_SECONDS'] = options.seconds;
process.env['SOAK_RATE'] = options.rate;
if (options.threads !== undefined) process.env['RESOLVER_THREADS'] = options.threads;
runSteps([
  [
    'Soak',
    'vitest',
    ['run', '--project', 'integration', 'apps/resolver/src/integration/soak.int.spec.ts'],
  ],
]);
