// npm run bench:catalogue [-- --domains 5M,50M] [-- --rounds 3]
//
// A catalogue of 60 categories from its lists to an image in a follower. The lists are files of format domains, one
// a category, names of 2 or 3 labels, 17 bytes on average, every tenth in two categories; written once, then read,
// compiled and loaded in fresh processes, medians of the rounds. 50 M names take 1 GB of disk below the temporary
// folder and a few minutes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeLists } from './lists.mjs';

const { values } = parseArgs({
  options: {
    domains: { type: 'string', default: '5M' },
    rounds: { type: 'string', default: '3' },
  },
});
const sizes = values.domains.split(',').map((text) => Number(text.replace(/M$/, 'e6')));
const rounds = Number(values.rounds);
if (![...sizes, rounds].every((n) => Number.isInteger(n) && n > 0)) {
  process.stderr.write('bench:catalogue: --domains and --rounds take positive numbers\n');
  process.exit(2);
}

const print = (line = '') => process.stdout.write(`${line}\n`);
const number = (value, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });

function run(script, args) {
  const path = new URL(script, import.meta.url).pathname;
  const child = spawnSync(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`${script} failed`);
  return JSON.parse(child.stdout.toString());
}

function median(results, key) {
  const ordered = results.map((result) => result[key]).sort((a, b) => a - b);
  return ordered[Math.floor(ordered.length / 2)];
}

function measure(domains) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-catalogue-'));
  try {
    const listBytes = writeLists(folder, domains);
    const image = join(folder, 'image');
    const compiled = [];
    const loaded = [];
    for (let round = 0; round < rounds; round++) {
      compiled.push(run('compile.mjs', [folder, image]));
      loaded.push(run('load.mjs', [image, String(compiled.at(-1).names)]));
    }
    return { listBytes, compiled, loaded };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

print(
  `${cpus()[0].model}, ${cpus().length} cores, ${number(totalmem() / 2 ** 30)} GiB; Node ${process.version}`,
);
print(
  `npm run bench:catalogue -- ${process.argv.slice(2).join(' ')}; ${new Date().toISOString().slice(0, 10)}`,
);
print();
print(
  '| names | lists, MB | read, s | compile, s | processor time of both, s | peak memory, MiB | image, MB | ' +
    'bytes a name | follower: load, s | its memory, MiB |',
);
print('| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const domains of sizes) {
  const { listBytes, compiled, loaded } = measure(domains);
  const [{ names, imageBytes }] = compiled;
  const cells = [
    number(names),
    number(listBytes / 1e6),
    number(median(compiled, 'readMs') / 1000, 1),
    number(median(compiled, 'compileMs') / 1000, 1),
    number(median(compiled, 'cpuMs') / 1000, 1),
    number(median(compiled, 'peakKib') / 1024),
    number(imageBytes / 1e6, 1),
    number(imageBytes / names, 2),
    number(median(loaded, 'loadMs') / 1000, 2),
    number(median(loaded, 'peakKib') / 1024),
  ];
  print(`| ${cells.join(' | ')} |`);
}
