import { validate } from 'dockerfile-utils';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUILD_ARGUMENTS, IMAGE_DEFAULTS } from './settings.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const dockerfile = read('Dockerfile');
const { version, license } = JSON.parse(read('package.json')) as {
  version: string;
  license: string;
};
/** Instructions without comments, continued lines joined. */
const instructions = dockerfile
  .replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '');
const having = (keyword: string) => instructions.filter((one) => one.startsWith(`${keyword} `));

describe('Dockerfile', () => {
  it('passes the linter', () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  it('installs the packages of the lock file, without install scripts', () => {
    const installs = [...instructions.join('\n').matchAll(/npm (\w+)([^&]*)/g)];
    expect(installs.filter(([, command]) => command === 'install')).toEqual([]);
    for (const [, , options] of installs.filter(([, command]) => command === 'ci')) {
      expect(options).toContain('--ignore-scripts');
    }
  });

  it('needs no development dependency for the overrides: npm 9 stops where `$name` is not in the manifest', () => {
    const { overrides } = JSON.parse(read('package.json')) as { overrides: object };
    expect(JSON.stringify(overrides)).not.toContain('"$');
  });

  it('sets the defaults that .env.example shows', () => {
    for (const [name, value] of Object.entries(IMAGE_DEFAULTS)) {
      expect(having('ENV').join('\n')).toMatch(new RegExp(`\\b${name}=${value}( |$)`, 'm'));
    }
    for (const [name, { default: value }] of Object.entries(BUILD_ARGUMENTS)) {
      expect(having('ARG')).toContain(value === undefined ? `ARG ${name}` : `ARG ${name}=${value}`);
    }
  });

  it('has the version and the licence of package.json', () => {
    expect(having('ARG')).toContain(`ARG VERSION=${version}`);
    // UNLICENSED is a word of npm: SPDX names such terms LicenseRef-….
    const spdx = license === 'UNLICENSED' ? `LicenseRef-${license}` : license;
    expect(having('LABEL')[0]).toContain(` org.opencontainers.image.licenses=${spdx} `);
  });
});
