import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../errors/errors.js';
import { FAULT_TYPES } from '../validation/fault.js';

const [guide, answers] = ['api-guide.md', 'api-answers.md'].map((page) =>
  readFileSync(fileURLToPath(new URL(`../../../../../docs/${page}`, import.meta.url)), 'utf8'),
);

/** The text below a heading, to the next one. */
function section(page: string, heading: string): string {
  const [, text = ''] = page.split(`## ${heading}\n`);
  return text.split(/^#+ /m, 1)[0];
}

const firstColumn = (heading: string) =>
  Array.from(section(answers, heading).matchAll(/^\| ([^|]*?) +\|/gm), ([, cell]) => cell).slice(2);

describe('the API guide and its page of answers', () => {
  it('names every type of a fault', () => {
    const named = firstColumn('Faults of a request').map((cell) => cell.replaceAll('`', ''));
    expect(named.toSorted()).toEqual(FAULT_TYPES.toSorted());
  });

  it('says what to do with every error status of the API', () => {
    const cells = firstColumn('What a back office does with the answers').join(' ');
    // A call of the guide never has a wrong method or content type.
    const statuses = new Set(Object.values(ERRORS).map(({ status }) => status));
    for (const status of [405, 415] as const) statuses.delete(status);
    for (const status of [422, ...statuses]) expect(cells).toContain(String(status));
  });

  const INTERPRETERS: Readonly<Record<string, readonly [command: string, option: string]>> = {
    bash: ['bash', '-c'],
    python: ['python3', '-c'],
    js: [process.execPath, '-e'],
  };
  const snippets = Array.from(
    section(guide, 'An IPv4 address in a path').matchAll(/^```(\w+)\n([^]*?)^```$/gm),
    ([, language, code]) => ({ language, code }),
  );

  it('makes a number of an IPv4 address in three languages', () => {
    expect(snippets.map(({ language }) => language)).toEqual(Object.keys(INTERPRETERS));
  });

  it.each(snippets)('makes the right number in $language', ({ language, code }) => {
    const [command, option] = INTERPRETERS[language];
    for (const [address, number] of [
      ['192.0.2.0', 3221225984],
      ['0.0.0.0', 0],
      ['0.0.1.2', 258],
      ['127.255.255.255', 2147483647],
      ['128.0.0.0', 2147483648],
      ['255.255.255.255', 4294967295],
    ] as const) {
      expect(code).toContain('192.0.2.0');
      const output = execFileSync(command, [option, code.replaceAll('192.0.2.0', address)]);
      expect(Number(output.toString())).toBe(number);
    }
  });
});
