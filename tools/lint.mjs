// Every static check in one command: module boundaries and style (ESLint), circular imports, format, types of the tests too.
import { runSteps } from './steps.mjs';

runSteps([
  // ESLint's module-boundary rule reads the project graph that Nx leaves behind.
  ['Project graph', 'nx', ['show', 'projects']],
  ['ESLint', 'eslint', ['--max-warnings=0', '.']],
  [
    'Circular imports',
    'depcruise',
    ['--config', '.dependency-cruiser.cjs', 'apps', 'libs', 'tools', 'k8s', 'compose'],
  ],
  ['Format', 'prettier', ['--check', '--log-level=warn', '.']],
  ['Types', 'tsc', ['-p', 'tsconfig.check.json']],
]);
