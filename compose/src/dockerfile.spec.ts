import { validate } from 'dockerfile-utils';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUILD_ARGUMENTS, IMAGE_DEFAULTS } from './settings.js';

const TARGETS = ['control-plane', 'resolver', 'block-page', 'migrate'];

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const dockerfile = read('Dockerfile');
const { version } = JSON.parse(read('package.json')) as { version: string };
/** Instructions with their continued lines, comments left out. */
const instructions = dockerfile
  .replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '');
const having = (keyword: string) => instructions.filter((one) => one.startsWith(`${keyword} `));

describe('Dockerfile', () => {
  it('has nothing that a linter objects to', () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  it('has a target a process', () => {
    const stages = having('FROM').map((one) => one.split(' AS ')[1]);
    expect(stages.slice(-TARGETS.length)).toEqual(TARGETS);
    expect(read('.dockerignore')).toContain('\n*\n');
  });

  it('builds on a base with a tag and fetches nothing by itself', () => {
    for (const one of having('FROM')) expect(one).toMatch(/^FROM (\$\{BASE_IMAGE\}|runtime) AS /);
    expect(having('ADD')).toEqual([]);
    for (const one of having('RUN')) expect(one).not.toMatch(/\b(curl|wget|git clone|npx)\b/);
  });

  it('installs what the lock file says, without scripts of packages', () => {
    const installs = [...instructions.join('\n').matchAll(/npm (\w+)([^&]*)/g)];
    expect(installs.filter(([, command]) => command === 'install')).toEqual([]);
    for (const [, , options] of installs.filter(([, command]) => command === 'ci')) {
      expect(options).toContain('--ignore-scripts');
    }
    expect(read('compose/image-tree.mjs')).toMatch(/'ci'[\s\S]*omit/);
  });

  it('runs as a user by number, from the first line that could start something', () => {
    expect(having('USER')).toEqual(['USER 65532:65532']);
    for (const one of [...having('ENTRYPOINT'), ...having('CMD')])
      expect(one).toContain('["node", ');
    expect(having('ENTRYPOINT')).toHaveLength(TARGETS.length);
  });

  it('sets the defaults that .env.example tells', () => {
    for (const [name, value] of Object.entries(IMAGE_DEFAULTS)) {
      expect(having('ENV').join('\n')).toMatch(new RegExp(`\\b${name}=${value}( |$)`, 'm'));
    }
    for (const [name, { default: value }] of Object.entries(BUILD_ARGUMENTS)) {
      expect(having('ARG')).toContain(value === undefined ? `ARG ${name}` : `ARG ${name}=${value}`);
    }
  });

  it('is of the version of package.json', () => {
    expect(having('ARG')).toContain(`ARG VERSION=${version}`);
  });
});
