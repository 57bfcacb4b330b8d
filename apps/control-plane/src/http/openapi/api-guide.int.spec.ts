import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { holdList } from '../../testing/hold-list.js';
import { openApiChecker } from '../../testing/openapi-checker.js';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ CATALOGUE: `${ROOT}catalogue` });
});
afterAll(() => harness.stop());

/** The shell commands of docs/api-guide.md, without their address and token. */
function guideScript(): string {
  const guide = readFileSync(`${ROOT}docs/api-guide.md`, 'utf8');
  const blocks = [...guide.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, lines]) => lines);
  return `set -e\n${blocks.join('').replace(/^export .*$/gm, '')}`;
}

function play(script: string): Promise<{ output: string; failed: boolean }> {
  const env = { PATH: process.env['PATH'], API: harness.baseUrl, TOKEN };
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { env }, (error, stdout, stderr) => {
      resolve({ output: stdout + stderr, failed: error !== null });
    });
  });
}

it('docs/api-guide.md has an example of every call, and each succeeds', async () => {
  await holdList(harness, 2, 'https://lists.example/gambling.txt');
  const { output, failed } = await play(guideScript());
  expect({ output, failed }).toEqual({ output, failed: false });
  const called = () =>
    harness.logLines
      .map((line) => JSON.parse(line) as { method?: string; route?: string; status?: number })
      .filter(({ status }) => status !== undefined && status < 300)
      .map(({ method, route }) => `${method} ${route?.replace(/:(\w+)/g, '{$1}')}`);
  const documented = openApiChecker()!
    .operations()
    .map(({ method, path }) => `${method} ${path}`);
  await expect.poll(() => documented.filter((call) => !called().includes(call))).toEqual([]);
});
