// npm run bench:targets
//
// Processor time of a cache hit by the number of CNAME targets of its answer: with hashes computed for each hit, and
// kept with the entry. Each figure comes from fresh processes, in turns; median of five.
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

const TARGETS = [0, 1, 3, 8];
const PROCESSES = 5;
const MODES = ['computed', 'kept'];

const script = new URL('measure.mjs', import.meta.url).pathname;
const print = (line = '') => process.stdout.write(`${line}\n`);
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function nsOf(targets, mode) {
  const { status, stdout } = spawnSync(process.execPath, [script, String(targets), mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  return Number(stdout.toString());
}

print(`${cpus()[0].model}, Node ${process.version}; ns a hit`);
print();
print('| targets | computed | kept |');
print('| ---: | ---: | ---: |');
for (const targets of TARGETS) {
  const figures = { computed: [], kept: [] };
  for (let n = 0; n < PROCESSES; n++) {
    for (const mode of MODES) figures[mode].push(nsOf(targets, mode));
  }
  const cells = MODES.map((mode) => Math.round(median(figures[mode])));
  print(`| ${targets} | ${cells.join(' | ')} |`);
}
