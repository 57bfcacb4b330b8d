// `npm run lint`: every static check.
import { runTogether } from './steps.mjs';

await runTogether([
  [
    'oxlint (style)',
    'oxlint',
    ['--type-aware', '--report-unused-disable-directives', '--deny-warnings'],
  ],
  [
    'Module boundaries, circles of files and folders',
    'depcruise',
    ['--config', '.dependency-cruiser.cjs', 'apps', 'libs', 'tools', 'k8s', 'compose'],
  ],
  ['Format', 'prettier', ['--check', '--log-level=warn', '.']],
  ['Width of lines', 'node', ['tools/check-width.mjs']],
  ['Types, tests included', 'tsc', ['-p', 'tsconfig.check.json']],
]);
