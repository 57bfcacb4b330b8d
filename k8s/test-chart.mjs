// `npm run test:chart` runs every test of the chart.
// `npm run test:chart -- --pods <file> [values]` writes the pods of ci/<values>-values.yaml to a file.
import { runSteps } from '../tools/steps.mjs';

const [flag, ...rest] = process.argv.slice(2);
if (flag === '--pods') {
  runSteps([
    ['Compiling', 'tsc', ['-b', '--noCheck', 'k8s/tsconfig.build.json']],
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
