/*
 * One step of a catalogue, in a process that bench:catalogue starts: `compile FOLDER IMAGE`, as the control plane does,
 * or `load IMAGE NAMES`, as a follower does. It prints one JSON object.
 */
import {
  CatalogueImage,
  compileCatalogue,
  DEFAULT_LIMITS,
  openSource,
  readDefinition,
  readNames,
} from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';

export interface Compiled {
  readonly readMs: number;
  readonly compileMs: number;
  /** Processor time of both. */
  readonly cpuMs: number;
  readonly peakKib: number;
  readonly names: number;
  readonly imageBytes: number;
}

export interface Loaded {
  readonly loadMs: number;
  readonly peakKib: number;
}

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const CHUNK_BYTES = 1 << 22;
const [step, from = '', to = ''] = process.argv.slice(2);

async function compile(folder: string, imageFile: string): Promise<Compiled> {
  const startMs = performance.now();
  const { categories } = await readDefinition(folder);
  const groups = [];
  for (const { id, name, sources } of categories) {
    const lists = [];
    for (const source of sources) {
      const limits = { maxBytes: DEFAULT_LIMITS.maxBytes, timeoutMs: 3_600_000 };
      const opened = await openSource(source, limits);
      if (opened.status !== 'opened') throw new Error('a list was read before');
      lists.push((await readNames(opened.body, source.format, KEY)).names);
    }
    groups.push({ id, name, lists });
  }
  const readMs = performance.now() - startMs;
  const { image, domainCount } = compileCatalogue({ categories: groups, applications: [] }, KEY);
  const compileMs = performance.now() - startMs - readMs;
  const peakKib = process.resourceUsage().maxRSS;
  const { user, system } = process.cpuUsage();
  writeFileSync(imageFile, image);
  const cpuMs = (user + system) / 1_000;
  return { readMs, compileMs, cpuMs, peakKib, names: domainCount, imageBytes: image.length };
}

/** Into memory, with SHA-256 and checksum. */
function load(file: string, names: number): Loaded {
  const startMs = performance.now();
  const descriptor = openSync(file, 'r');
  const bytes = new Uint8Array(new SharedArrayBuffer(fstatSync(descriptor).size));
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < bytes.length;) {
    const read = readSync(descriptor, chunk, 0, CHUNK_BYTES, at);
    if (read === 0) throw new Error('the image is cut short');
    hash.update(chunk.subarray(0, read));
    bytes.set(chunk.subarray(0, read), at);
    at += read;
  }
  closeSync(descriptor);
  hash.digest();
  const image = CatalogueImage.open(bytes, KEY);
  const loadMs = performance.now() - startMs;
  if (image.domainCount !== names) throw new Error('the image lacks names');
  return { loadMs, peakKib: process.resourceUsage().maxRSS };
}

const figures = step === 'compile' ? await compile(from, to) : load(from, Number(to));
process.stdout.write(JSON.stringify(figures));
