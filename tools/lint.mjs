// `npm run lint`: every static check.
import { runSteps, runTogether } from './steps.mjs';

runSteps([
  // ESLint's module-boundary rule reads the project graph that Nx leaves behind.
  ['Project graph', 'nx', ['show', 'projects']],
]);
await runTogether([
  ['ESLint (style, module boundaries)', 'eslint', ['--max-warnings=0', '.']],
  [
    'Circles of files and folders',
    'depcruise',
    ['--config', '.dependency-cruiser.cjs', 'apps', 'libs', 'tools', 'k8s', 'compose'],
  ],
  ['Format', 'prettier', ['--check', '--log-level=warn', '.']],
  ['Width of Markdown', 'node', ['tools/check-markdown.mjs']],
  ['Types, tests included', 'tsc', ['-p', 'tsconfig.check.json']],
  ['Types between the projects as they are compiled', 'tsc', ['-b']],
]);
