import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY_FOLDER } from '../paths.js';

const read = (path: string): string => readFileSync(join(REPOSITORY_FOLDER, path), 'utf8');

const [, section] = read('docs/operations/runbook.md').split(
  '\n## Log messages without an alert\n',
);
const messages = [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, message]) => message);

const code = globSync('{apps,libs}/*/src/**/*.ts', { cwd: REPOSITORY_FOLDER })
  .filter((path) => !/\.spec\.ts$|\/testing\//.test(path))
  .map(read)
  .join('\n');

it.each(messages)('a process logs "%s"', (message) => {
  expect(code).toContain(`'${message}'`);
});
