import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that repeat the version of package.json, because what reads them does not read package.json. */
export const VERSION_FILES = [
  '.env.example',
  'Dockerfile',
  'docker-compose.yml',
  'docs/openapi.json',
  'docs/operations/install-compose.md',
  'docs/operations/install-helm.md',
  'k8s/weir/Chart.yaml',
];
const MANIFEST = 'package.json';
const LOCK = 'package-lock.json';

interface Manifest {
  version: string;
}

/** The version of a repository. @param root its folder */
export function readVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, MANIFEST), 'utf8')) as Manifest).version;
}

/** Writes another version into package.json and into every file that repeats it. */
export function writeVersion(root: string, version: string): void {
  const old = readVersion(root);
  const whole = new RegExp(`(?<![\\w.])${old.replaceAll('.', '\\.')}(?![\\w-]|\\.\\d)`, 'g');
  for (const path of VERSION_FILES) {
    const file = join(root, path);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(whole, version));
  }
  rewrite<Manifest>(join(root, MANIFEST), (manifest) => {
    manifest.version = version;
  });
  rewrite<Manifest & { packages: Record<string, Manifest> }>(join(root, LOCK), (lock) => {
    lock.version = version;
    lock.packages[''].version = version;
  });
}

function rewrite<T>(file: string, change: (value: T) => void): void {
  const value = JSON.parse(readFileSync(file, 'utf8')) as T;
  change(value);
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
