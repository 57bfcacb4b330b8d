import { type Needs, needs, needsThat } from '@weir/ops/testing';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { missingPrograms } from './dns/missing-programs.js';

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

/** The least that each benchmark can do, and what it prints then. */
const TRIALS: Readonly<Record<string, Trial>> = {
  api: { args: [], prints: [/GET \/net\/ .* first byte \d+ ms/, /PATCH .*p99/s] },
  'block-page': { args: [], prints: [/^round 5: \d+ pages\/s, \d+ us/m] },
  bodies: { args: ['--seconds', '1'], prints: [/millions of objects/, /POST \/init\//] },
  catalogue: { args: ['--domains', '0.01M', '--rounds', '1'], prints: [/^\| 10,000 \| /m] },
  changes: {
    args: ['--clients', '2', '--seconds', '1'],
    prints: [/^PATCH .*, 2 clients, .*: \d+\/s, \d+ answered/m],
  },
  dns: {
    args: ['--jobs', 'zone', '--servers', 'unbound', ...SMALLEST_LOAD],
    prints: [row('unbound')],
    needs: needs('unbound'),
  },
  fleet: { args: ['--followers', '5', '--rate', '20'], prints: [/^5 followers, \d+ changes\/s/m] },
  lanes: {
    args: ['--jobs', 'zone', ...SMALLEST_LOAD],
    prints: [row('1 lane'), row('2 lanes')],
    needs: NEEDS_LOAD,
  },
  policy: { args: ['--size', '0'], prints: [/^\| no profile \| \d+ \|/m] },
  propagation: {
    args: [],
    prints: [/^latency, 10 resolvers/m, /^catch-up .* from disk to head \d/m, /^POST \/init\/ /m],
  },
  refresh: { args: ['--domains', '1'], prints: [/from file to force: [\d.]+ s/] },
  scale: {
    args: ['--scale', '0.0005', ...SMALLEST_LOAD],
    prints: [
      /^\| ratio \| [\d.]+ \(goal 1.15\) \|/m,
      /^\| full size \| [\d.]+ \|.*\| [1-9]\d* % \|/m,
    ],
    needs: NEEDS_LOAD,
  },
  snapshots: {
    args: ['--followers', '2', '--resolvers', '2', '--networks', '1000'],
    prints: [/\d/],
  },
  start: {
    args: ['--networks', '1000', '--rules', '1000', '--profiles', '10', '--rounds', '1'],
    prints: [/^\| 0\.\d \| \d+ \| \d+ \|/m],
  },
};

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const benchmarks = Object.keys(scripts).filter((name) => name.startsWith('bench:'));

/** Runs what the script runs when everything is compiled. */
async function run(name: string, args: readonly string[]): Promise<string> {
  const program = /node (\S+)$/.exec(scripts[name])![1];
  const env = { ...process.env, BENCH_SHARE: '0.01' };
  return (await promisify(execFile)(process.execPath, [join(root, program), ...args], { env }))
    .stdout;
}

it('has a trial of each benchmark', () => {
  expect(Object.keys(TRIALS).map((name) => `bench:${name}`)).toEqual(benchmarks.sort());
});

describe.each(Object.entries(TRIALS))('bench:%s', (name, trial) => {
  it('prints its figures', trial.needs ?? {}, async () => {
    const output = await run(`bench:${name}`, trial.args);
    for (const pattern of trial.prints) expect(output).toMatch(pattern);
    expect(output).not.toMatch(/NaN|undefined/);
  });
});
