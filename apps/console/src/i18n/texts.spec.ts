import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { de } from './de.js';
import { en } from './en.js';

const SOURCES = fileURLToPath(new URL('..', import.meta.url));
const code = globSync('**/*.{ts,tsx}', { cwd: SOURCES })
  .filter((path) => !path.startsWith('i18n/') && !path.startsWith('generated/'))
  .map((path) => readFileSync(`${SOURCES}${path}`, 'utf8'))
  .join('\n');

describe('the texts of the console', () => {
  it('have the same keys in every language, in the same order', () => {
    expect(Object.keys(de)).toEqual(Object.keys(en));
  });

  it.each(Object.entries(en))('%s stands for the same values in every language', (key, text) => {
    const names = (one: string) => [...one.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    const german = de[key as keyof typeof en];
    expect(names(german)).toEqual(names(text));
    expect(german.trim()).not.toBe('');
  });

  it('are all used', () => {
    // A key may be put together: `resolvers.state.${state}`.
    const beginnings = [...code.matchAll(/`([a-zA-Z.]+\.)\$\{/g)].map(([, beginning]) => beginning);
    const unused = Object.keys(en).filter(
      (key) => !code.includes(`'${key}'`) && !beginnings.some((one) => key.startsWith(one)),
    );
    expect(unused).toEqual([]);
  });
});
