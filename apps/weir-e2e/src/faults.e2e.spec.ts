import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const SUITE = 'tools/dist/faults/main.js';

/** The defects that the suite can put into the processes, as its help names them. */
function defects(): string[] {
  const help = execFileSync(process.execPath, [SUITE, '--help'], { cwd: root, encoding: 'utf8' });
  const list = /The defects:\n((?: {18}.*\n)+)/.exec(help)?.[1] ?? '';
  return list.trim().split(/\n */);
}

/** Runs the compiled fault suite of the working tree. Its report, with the seed, also goes to the terminal. */
function runFaults(...args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SUITE, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
      process.stdout.write(chunk);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, output });
    });
  });
}

it.each(defects())('finds a planted defect: %s', async (name) => {
  const { code, output } = await runFaults('--plant', name);
  expect(output).toContain(`FOUND: ${name}`);
  expect(output).not.toContain('NOT FOUND');
  expect(code).toBe(0);
});

it('loses no acknowledged change and answers every query while processes are killed and stopped', async () => {
  const { code, output } = await runFaults('--short');
  expect(output).toMatch(/OK, seed \d+/);
  expect(code).toBe(0);
});
