// `npm run test:chart`: every test of the chart. With `-- --pods <file> [values]` it writes the pods that the chart makes of
// ci/<values>-values.yaml to a file.
import { runSteps } from '../tools/steps.mjs';

const [flag, ...rest] = process.argv.slice(2);
if (flag === '--pods') {
  runSteps([
    ['Compiling', 'tsc', ['-b', 'k8s/tsconfig.build.json']],
    ['Pods', 'node', ['k8s/dist/pods/main.js', ...rest]],
  ]);
} else {
  const args = process.argv.slice(2);
  runSteps([
    [
      'The chart',
      'vitest',
      ['run', '--project', 'unit', '--project', 'integration', ...args, 'k8s/src'],
    ],
  ]);
}
