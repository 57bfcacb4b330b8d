import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY_FOLDER } from '../paths.js';

const read = (path: string): string => readFileSync(join(REPOSITORY_FOLDER, path), 'utf8');

const page = read('docs/operations/log-messages.md');
const messages = Array.from(page.matchAll(/^\| `([^`]+)`/gm), ([, message]) => message);

const code = globSync('{apps,libs}/*/src/**/*.ts', { cwd: REPOSITORY_FOLDER })
  .filter((path) => !/\.spec\.ts$|\/testing\//.test(path))
  .map(read)
  .join('\n');

it.each(messages)('a process logs "%s"', (message) => {
  expect(code).toContain(`'${message}'`);
});
