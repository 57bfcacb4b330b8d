import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files that repeat the version of package.json, because what reads them does not read package.json. */
const VERSION_FILES = [
  '.env.example',
  'Dockerfile',
  'docker-compose.yml',
  'docs/openapi.json',
  'docs/operations/helm-special-cases.md',
  'docs/operations/install-compose.md',
  'docs/operations/install-helm.md',
  'k8s/weir/Chart.yaml',
];

interface Manifest {
  version: string;
  readonly packages?: Record<string, { version: string }>;
}

/** The version of a repository. @param root its folder */
export function readVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest).version;
}

/** Writes another version into package.json and into every file that repeats it. */
export function writeVersion(root: string, version: string): void {
  const old = readVersion(root);
  const whole = new RegExp(`(?<![\\w.])${old.replaceAll('.', '\\.')}(?![\\w-]|\\.\\d)`, 'g');
  for (const path of VERSION_FILES) {
    const file = join(root, path);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(whole, version));
  }
  for (const name of ['package.json', 'package-lock.json']) {
    const file = join(root, name);
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    manifest.version = version;
    // The lock file has the same package once more.
    if (manifest.packages !== undefined) manifest.packages[''].version = version;
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
}
