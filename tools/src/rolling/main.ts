// `npm run test:rolling -- [--rounds 5] [--drain 5]`: restarts every process under load, and tells what was lost
// (docs/operations/rolling-restarts.md).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderRolling } from './report.js';
import { runRolling } from './run.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    drain: { type: 'string', default: '5' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'weir-rolling-'));
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const result = await runRolling({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  folder,
  rounds: Number(values.rounds),
  drainSeconds: Number(values.drain),
  print,
});
print(renderRolling(result));
if (result.violations.length === 0) rmSync(folder, { recursive: true, force: true });
else print(`FAILED. Logs in ${folder}`);
process.exitCode = result.violations.length === 0 ? 0 : 1;
