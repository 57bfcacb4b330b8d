// npm run bench:start
//
// A resolver's start from disk: reads a snapshot file and builds its policy. Prints wall time, processor time of the
// process and of its main thread (the one that builds), and memory. Each round is a fresh process; medians.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    networks: { type: 'string', default: '1000000' },
    rules: { type: 'string', default: '1000000' },
    profiles: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    flags: { type: 'string', default: '' },
    folder: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const print = (line = '') => process.stdout.write(`${line}\n`);
if (values.help) {
  print('npm run bench:start -- [--networks N] [--rules N] [--profiles N] [--rounds N]');
  print(
    '  [--flags "--cpu-prof …", for the process that starts] [--folder PATH, of an earlier run]',
  );
  process.exit();
}

function run(script, flags, ...args) {
  const path = new URL(script, import.meta.url).pathname;
  const { status, stdout } = spawnSync(process.execPath, [...flags, path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  return stdout.toString();
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'weir-start-'));
const flags = values.flags.split(' ').filter((flag) => flag !== '');
try {
  if (values.folder === undefined) {
    run('prepare.mjs', [], folder, values.networks, values.rules, values.profiles);
  }
  const megabytes = statSync(join(folder, 'snapshot')).size / 1e6;
  const rounds = Array.from({ length: Number(values.rounds) }, () =>
    JSON.parse(run('measure.mjs', flags, folder)),
  );
  const of = (name) => Math.round(median(rounds.map((round) => round[name])));
  print(`${cpus()[0].model}, Node ${process.version}`);
  print(`${values.networks} networks, ${values.rules} rules, ${values.profiles} profiles`);
  print();
  print(
    '| file, MB | wall, ms | processor, ms | of that, main thread | longest turn, ms | resident, MiB |',
  );
  print('| ---: | ---: | ---: | ---: | ---: | ---: |');
  const cells = ['wallMs', 'processMs', 'threadMs', 'longestTurnMs', 'residentMiB'].map(of);
  print(`| ${megabytes.toFixed(1)} | ${cells.join(' | ')} |`);
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true });
}
