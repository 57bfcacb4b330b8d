import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY_FOLDER } from '../paths.js';
import { readCases } from './testing/cases.js';
import { readRules } from './testing/rules.js';

const rules = readRules();
const pages = globSync('docs/operations/alerts-*.md', { cwd: REPOSITORY_FOLDER });
const sections = pages.flatMap((page) =>
  readFileSync(join(REPOSITORY_FOLDER, page), 'utf8')
    .split(/^### /m)
    .slice(1)
    .map((text) => ({ page, title: text.slice(0, text.indexOf('\n')), text })),
);

describe.each(rules)('$alert', ({ alert, labels, annotations }) => {
  it('has a severity and all annotations', () => {
    expect(['critical', 'warning']).toContain(labels['severity']);
    expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook_url']);
    for (const text of Object.values(annotations)) expect(text).not.toBe('');
  });

  it('links to its section of the runbook', () => {
    const section = sections.find(({ title }) => title === alert);
    expect(annotations['runbook_url']).toBe(`${section?.page}#${alert.toLowerCase()}`);
    for (const part of ['Meaning', 'First look', 'Remedy']) {
      expect(section?.text).toContain(`**${part}.** `);
    }
  });

  it('has a case in which it fires and one in which it does not', () => {
    const cases = readCases().filter((one) => one.alert === alert);
    expect(cases.some(({ raised }) => raised === null)).toBe(true);
    expect(cases.some(({ raised }) => raised !== null)).toBe(true);
  });
});

it('the runbook describes only alerts that exist', () => {
  const names = sections.map(({ title }) => title);
  expect(names.sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

it('every case names an alert that exists', () => {
  const names = new Set(rules.map(({ alert }) => alert));
  expect(readCases().filter(({ alert }) => !names.has(alert))).toEqual([]);
});
