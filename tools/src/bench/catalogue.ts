/*
 * A catalogue from its lists to an image in a follower: `npm run bench:catalogue -- --help`. Each list is read,
 * compiled and loaded in fresh processes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { integerOption, optionsOrExit } from '../command-options.js';
import { print } from '../output.js';
import { percentile } from '../percentile.js';
import { CATEGORIES, writeLists } from './catalogue-lists.js';
import type { Compiled, Loaded } from './catalogue-steps.js';
import { describeMachine, markdownTable } from './figures.js';

const STEPS = fileURLToPath(new URL('catalogue-steps.js', import.meta.url));

const HELP = `npm run bench:catalogue -- [--domains 5000000] [--rounds 3]

Measures a catalogue of ${CATEGORIES} categories from its lists to an image in a follower: names of 2 or 3 labels, 17 bytes on
average, every tenth in two categories. It prints medians.
domains: 50000000 take 1 GB in the folder for temporary files and a few minutes`;

const { domains, rounds } = optionsOrExit(
  HELP,
  { domains: { type: 'string', default: '5000000' }, rounds: { type: 'string', default: '3' } },
  (values) => ({
    domains: integerOption('domains', values.domains, 1_000, 200_000_000),
    rounds: integerOption('rounds', values.rounds, 1, 100),
  }),
);

async function step<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [STEPS, ...args]);
  return JSON.parse(stdout) as T;
}

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-catalogue-'));
try {
  const listBytes = writeLists(folder, domains);
  const image = join(folder, 'image');
  const compiled: Compiled[] = [];
  const loaded: Loaded[] = [];
  for (let round = 0; round < rounds; round++) {
    const one = await step<Compiled>('compile', folder, image);
    compiled.push(one);
    loaded.push(await step<Loaded>('load', image, String(one.names)));
  }
  const median = <T>(results: readonly T[], figure: (result: T) => number): number =>
    percentile(results.map(figure), 0.5);
  const names = median(compiled, (one) => one.names);
  const imageBytes = median(compiled, (one) => one.imageBytes);
  const rows = [
    ['lists, MB', listBytes / 1e6],
    ['read, s', median(compiled, ({ readMs }) => readMs) / 1_000],
    ['compile, s', median(compiled, ({ compileMs }) => compileMs) / 1_000],
    ['processor time of both, s', median(compiled, ({ cpuMs }) => cpuMs) / 1_000],
    ['peak memory, MiB', median(compiled, ({ peakKib }) => peakKib) / 1_024],
    ['image, MB', imageBytes / 1e6],
    ['bytes a name', imageBytes / names],
    ['follower: load, s', median(loaded, ({ loadMs }) => loadMs) / 1_000],
    ['follower: peak memory, MiB', median(loaded, ({ peakKib }) => peakKib) / 1_024],
  ] as const;
  print(describeMachine());
  print(
    markdownTable(
      [`${names.toLocaleString('en-US')} names`, ''],
      rows.map(([title, figure]) => [title, figure.toFixed(2)]),
    ),
  );
} finally {
  rmSync(folder, { recursive: true });
}
