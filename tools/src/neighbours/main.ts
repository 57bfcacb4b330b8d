import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { abortOnSignal, runToEnd } from '../command.js';
import { print } from '../output.js';
import { HELP, parseOptions } from './options.js';
import { renderResult, renderTable } from './report.js';
import { runNeighbours } from './run.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options === null) {
    print(HELP);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'weir-neighbours-'));
  print(`logs in ${folder}`);
  const interrupted = new AbortController();
  abortOnSignal(interrupted, (signal) => `ended by ${signal}, logs in ${folder}`);
  const result = await runNeighbours(options, {
    root,
    folder,
    signal: interrupted.signal,
    onAttack: ({ name, description }) => print(`\n${name}: ${description}`),
    onResult: (one) => print(renderResult(one)),
  });
  print(`\n${result.processors}\n${renderTable(result)}`);
  const bad = result.results.filter(({ verdict }) => verdict.result !== 'ok');
  if (bad.length === 0) {
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
    print('OK');
    return;
  }
  print(`FAILED: ${bad.length} of ${result.results.length} attacks. Logs in ${folder}`);
  print(
    `To repeat: npm run test:neighbours -- --only ${bad.map(({ attack }) => attack.name).join(',')}`,
  );
  process.exitCode = 1;
}

await runToEnd(main);
