import { needs, needsThat } from '@weir/ops/testing';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { missingPrograms } from './dns/missing-programs.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const bench = async (file: string, ...args: string[]): Promise<string> =>
  (await run(process.execPath, [join(root, 'tools/dist/bench', `${file}.js`), ...args])).stdout;

const missing = missingPrograms();
const NEEDS_PROGRAMS = needsThat(missing.length === 0, missing.join(', '));

describe('benchmarks, at their smallest', { timeout: 240_000, ...NEEDS_PROGRAMS }, () => {
  const smallest = ['--rounds', '1', '--seconds', '1'];
  // All figures, and no reason why it was not measured.
  const row = (server: string): RegExp =>
    new RegExp(`^\\| ${server} \\| [\\d.]+ \\|.*\\| +\\|$`, 'm');

  // bench:lanes runs the same comparison with Weir.
  it('bench:dns prints a row for each server', needs('unbound'), async () => {
    const table = await bench('dns/main', '--jobs', 'zone', '--servers', 'unbound', ...smallest);
    expect(table).toMatch(row('unbound'));
  });

  it('bench:lanes prints a row for each number of lanes', async () => {
    const table = await bench('lanes/main', '--jobs', 'zone', ...smallest);
    expect(table).toMatch(row('1 lane'));
    expect(table).toMatch(row('2 lanes'));
  });

  it('bench:scale compares an empty configuration with a full one', async () => {
    const tables = await bench('scale/main', '--scale', '0.0005', ...smallest);
    expect(tables).toMatch(/^\| ratio \| [\d.]+ \(goal 1.15\) \|/m);
    expect(tables).toMatch(/^\| full size \| [\d.]+ \|.*\| [1-9]\d* % \|/m);
    expect(tables).not.toContain('NaN');
  });
});

it.each([
  ['dns', 'dns/main'],
  ['lanes', 'lanes/main'],
  ['propagation', 'propagation'],
  ['scale', 'scale/main'],
  ['snapshots', 'snapshots/main'],
])('bench:%s explains itself', async (name, file) => {
  expect(await bench(file, '--help')).toContain(`npm run bench:${name}`);
});
