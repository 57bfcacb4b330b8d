import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Groups } from './testing/build-catalogue.js';
import { type DefaultGroup, FOLDER, readDefaultCatalogue } from './testing/default-catalogue.js';

const PAGE = join(FOLDER, '../docs/catalogue.md');
const HEADING = '\n## Categories\n';
const plans = parse(await readFile(join(FOLDER, 'upstream/groups.yaml'), 'utf8')) as Groups;
const { categories } = await readDefaultCatalogue();

it('docs/catalogue.md has each category with its size and its applications', async () => {
  const [introduction] = (await readFile(PAGE, 'utf8')).split(HEADING);
  const alone = `\n### Applications without a category\n\n${applicationsOf()}\n`;
  const page = [introduction, HEADING, ...categories.map(sectionOf), alone].join('');
  await expect(page).toMatchFileSnapshot(PAGE);
});

function sectionOf({ id, name, group, purpose, mandatory, names, rewrites }: DefaultGroup): string {
  const rewritten = rewrites.flatMap((rewrite) => rewrite.names).length;
  const facts = [
    `Id ${id}`,
    `group \`${group}\``,
    `purpose \`${purpose}\``,
    ...(mandatory ? ['mandatory'] : []),
    `${names.size.toLocaleString('en-GB')} domains`,
    ...(rewritten > 0 ? [`${rewritten} names that are sent to others`] : []),
  ];
  const own = applicationsOf(id);
  return `\n### ${name}\n\n${facts.join(', ')}.\n${own === '' ? '' : `\n${own}\n`}`;
}

/** `Netflix (10), …` in lines of at most 116 columns; without a category those that are in none. */
function applicationsOf(category?: number): string {
  const own = plans.applications.filter(({ categories: ids = [] }) =>
    category === undefined ? ids.length === 0 : ids.includes(category),
  );
  const text = own.map(({ id, name }) => `${name} (${id})`).join(', ');
  return text.replaceAll(/(?!.{1,116}$)(.{1,116}) /gm, '$1\n');
}
