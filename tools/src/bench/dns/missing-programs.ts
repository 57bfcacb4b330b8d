import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { hasDnsperf } from './load.js';
import { hasNsd } from './servers/upstream.js';

/** What a comparison needs and this machine lacks. Programs are named by their Debian packages. */
export function missingPrograms(): string[] {
  const missing: string[] = [];
  if (!hasDnsperf()) missing.push('dnsperf');
  if (spawnSync('taskset', ['--version']).error !== undefined) missing.push('util-linux');
  if (!hasNsd()) missing.push('nsd');
  if (cpus().length < 2) missing.push('a second core');
  return missing;
}
