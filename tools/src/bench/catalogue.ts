/*
 * A catalogue from its lists to an image in a follower: `npm run bench:catalogue -- --help`. Each list is read,
 * compiled and loaded in fresh processes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder, integer, optionsOrExit, print, value } from '../command.js';
import { markdownTable, percentile } from '../figures.js';
import { askHelper } from '../services/helper.js';
import type { Step } from './catalogue-steps.js';
import { writeLines } from './dns/servers.js';
import { describeMachine } from './figures.js';

const CATEGORIES = 60;
const SHARED = 10;
const ENDS = ['com', 'net', 'org', 'de', 'info', 'ru', 'top', 'xyz', 'co.uk', 'com.br'];

/** Writes a catalogue folder of this many names, the same at every run. */
async function writeLists(folder: string, domains: number): Promise<void> {
  mkdirSync(join(folder, 'lists'));
  let yaml = 'categories:\n';
  for (let category = 0; category < CATEGORIES; category++) {
    const file = `lists/${category}.txt`;
    await writeLines(join(folder, file), namesOf(category, domains));
    yaml += `  - { id: ${category}, name: category ${category}, sources: [{ file: ${file}, format: domains }] }\n`;
  }
  writeFileSync(join(folder, 'catalogue.yaml'), yaml);
}

/** One category's list: every 60th name, and every 600th of its neighbour's. */
function* namesOf(category: number, domains: number): Generator<string> {
  for (let n = category; n < domains; n += CATEGORIES) yield nameOf(n);
  const neighbour = (category + 1) % CATEGORIES;
  for (let n = neighbour; n < domains; n += CATEGORIES * SHARED) yield nameOf(n);
}

/** A name of its own, as long as those of real lists; every fifth has a label more. */
function nameOf(n: number): string {
  const spread = Math.imul(n, 0x9e37_79b1) >>> 0;
  const label = spread % 5 === 0 ? 'www.' : '';
  return `${label}site-${spread.toString(36)}.${ENDS[spread % ENDS.length]}`;
}

const measure = <T>(...step: Step): Promise<T> =>
  askHelper(new URL('catalogue-steps.js', import.meta.url), step);

const HELP = `npm run bench:catalogue -- [--domains 5000000] [--rounds 3]

Measures a catalogue of ${CATEGORIES} categories from its lists to an image in a follower: names of 2 or 3 labels, 17 bytes on
average, every tenth in two categories. It prints medians.
domains: 50000000 take 1 GB in the folder for temporary files and a few minutes`;

const { domains, rounds } = optionsOrExit(HELP, {
  domains: value(integer(1_000, 200_000_000), 5_000_000),
  rounds: value(integer(1, 100), 3),
});

const results: Readonly<Record<string, number>>[] = [];
await inFolder('bench-catalogue', async (folder) => {
  await writeLists(folder, domains);
  const image = join(folder, 'image');
  for (let round = 0; round < rounds; round++) {
    const compiled = await measure<{ names: number }>('compile', folder, image);
    const loaded = await measure<object>('load', image, compiled.names);
    results.push({ ...compiled, ...loaded });
  }
});
const [{ names, ...figures }] = results;
const rows = Object.keys(figures).map((title) => {
  const median = percentile(
    results.map((one) => one[title]),
    0.5,
  );
  return [title, median.toFixed(2)];
});
print(describeMachine());
print(markdownTable([`${names.toLocaleString('en-US')} names`, ''], rows));
