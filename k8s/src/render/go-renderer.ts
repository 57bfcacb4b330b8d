import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { RENDERER_FOLDER, REPOSITORY_FOLDER } from '../paths.js';
import { ChartError } from './chart-error.js';

/** Folder of Debian's Go packages. */
const GOPATH = '/usr/share/gocode';
const PACKAGES = ['github.com/Masterminds/sprig', 'gopkg.in/yaml.v3'];
const MAX_OUTPUT_BYTES = 2 ** 26;

/** Why the renderer cannot be built on this machine, or null. */
export function whyNoGoRenderer(): string | null {
  if (spawnSync('go', ['version']).status !== 0) return 'Go is not installed';
  const missing = PACKAGES.filter((name) => !existsSync(join(GOPATH, 'src', name)));
  return missing.length === 0 ? null : `the Go sources of ${missing.join(' and ')} are missing`;
}

/** Runs the renderer, and builds it if its sources have changed. @throws ChartError with the message of the chart. */
export function runGoRenderer(request: object): Record<string, string> {
  const { status, stdout, stderr } = spawnSync(build(), {
    input: JSON.stringify(request),
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (status !== 0) throw new ChartError(stderr.trim());
  return JSON.parse(stdout) as Record<string, string>;
}

function build(): string {
  const sources = readdirSync(RENDERER_FOLDER).filter((name) => name.endsWith('.go'));
  const hash = createHash('sha256');
  for (const name of sources) hash.update(readFileSync(join(RENDERER_FOLDER, name)));
  const folder = join(REPOSITORY_FOLDER, 'node_modules/.cache/weir-chart');
  const program = join(folder, `renderer-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  // The file is renamed when it is complete, because several tests may build it at the same time.
  const unfinished = `${program}.${process.pid}`;
  const { status, stderr } = spawnSync('go', ['build', '-o', unfinished, '.'], {
    cwd: RENDERER_FOLDER,
    env: { ...process.env, GO111MODULE: 'off', GOPATH, GOFLAGS: '' },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the renderer of the chart cannot be built: ${stderr}`);
  renameSync(unfinished, program);
  return program;
}
