import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runToEnd } from '../command.js';
import { print } from '../output.js';
import { cloneRelease } from '../previous-release/clone.js';
import { findPreviousRelease } from '../previous-release/find.js';
import { HELP, parseOptions } from './options.js';
import { renderRolling } from './report.js';
import { runRolling } from './run.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options === null) {
    print(HELP);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'weir-rolling-'));
  const found = findPreviousRelease(root);
  if ('none' in found) print(`No upgrade is tested: ${found.none}`);
  else print(`Upgrade from ${found.version} (the first run builds it, in minutes)`);
  const previous = 'none' in found ? null : await cloneRelease(root, found.commit);
  const result = await runRolling({ root, previous, folder, ...options, print });
  print(renderRolling(result));
  if (result.violations.length === 0) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  print(`FAILED. Logs in ${folder}`);
  process.exitCode = 1;
}

await runToEnd(main);
