import { type Needs, needs, needsThat } from '@weir/ops/testing';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { missingPrograms } from './dns/upstream.js';

interface Trial {
  readonly args: readonly string[];
  /** Each is in the output. */
  readonly prints: readonly RegExp[];
  readonly needs?: Needs;
}

const missing = missingPrograms();
const NEEDS_LOAD = needsThat(missing.length === 0, missing.join(', '));
const SMALLEST_LOAD = ['--rounds', '1', '--seconds', '1'];
/** A row of a comparison of servers, with all figures and without a reason why there are none. */
const row = (server: string): RegExp =>
  new RegExp(`^\\| ${server} \\| [\\d.]+ \\|.*\\| +\\|$`, 'm');

/** The table of three servers below a title. None of them gave a wrong answer, or was left out. */
const tableWithoutErrors = (title: string): RegExp =>
  new RegExp(`^${title} .*\\n+(\\|.*\\n){2}(\\| \\w+ \\| [\\d.]+ \\|.*\\| 0 \\| +\\|\\n){3}`, 'm');

/** The least that each benchmark can do, and what it prints then. */
const TRIALS: Readonly<Record<string, Trial>> = {
  api: { args: [], prints: [/^GET \/explain\/: \d+ answered/m] },
  'api -- --resolvers': {
    args: ['--resolvers', '3', '--parts', 'replace'],
    prints: [/^POST \/init\/ with 0.1 % .* in [\d.]+ s, in force on 3\/3 resolvers/m],
  },
  catalogue: { args: ['--domains', '10000', '--rounds', '1'], prints: [/^\| 10,000 names \| /m] },
  changes: {
    args: ['--clients', '2', '--seconds', '1', '--resolvers', '5', '--rate', '20'],
    prints: [/^PATCH .*, 2 clients, 5 resolvers: \d+\/s, \d+ answered/m],
  },
  dns: {
    args: ['--jobs', 'zone', '--servers', 'unbound', ...SMALLEST_LOAD],
    prints: [row('unbound')],
    needs: needs('unbound'),
  },
  'dns -- --jobs': {
    args: ['--jobs', 'tcp,dot,doh,doh-64', '--servers', 'Weir,unbound,dnsdist', ...SMALLEST_LOAD],
    prints: ['TCP, 8', 'TLS, 8', 'HTTPS, 8', 'HTTPS, 64'].map(tableWithoutErrors),
    needs: needs('unbound', 'dnsdist', 'h2load'),
  },
  'dns -- --lanes': {
    args: ['--lanes', '1,2', '--jobs', 'zone', ...SMALLEST_LOAD],
    prints: [row('1 lane'), row('2 lanes')],
    needs: NEEDS_LOAD,
  },
  propagation: {
    args: [],
    prints: [/^latency, 10 resolvers/m, /^batch of 100 domains/m],
  },
  scale: {
    args: ['--scale', '0.0005', ...SMALLEST_LOAD],
    prints: [row('empty'), row('full size')],
    needs: NEEDS_LOAD,
  },
};

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const benchmarks = Object.keys(scripts).filter((name) => name.startsWith('bench:'));

const scriptOf = (name: string): string => `bench:${name.split(' ')[0]}`;

/** Runs what the script runs when everything is compiled. */
async function run(name: string, args: readonly string[]): Promise<string> {
  const [, program, ...own] = scripts[scriptOf(name)].split(' ');
  const env = { ...process.env, BENCH_SHARE: '0.01' };
  const command = [join(root, program), ...own, ...args];
  return (await promisify(execFile)(process.execPath, command, { env })).stdout;
}

it('has a trial of each benchmark', () => {
  expect([...new Set(Object.keys(TRIALS).map(scriptOf))]).toEqual(benchmarks.sort());
});

describe.each(Object.entries(TRIALS))('bench:%s', (name, trial) => {
  it('prints its figures', trial.needs ?? {}, async () => {
    const output = await run(name, trial.args);
    for (const pattern of trial.prints) expect(output).toMatch(pattern);
    expect(output).not.toMatch(/NaN|undefined/);
  });
});
