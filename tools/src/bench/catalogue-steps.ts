/** One step of a catalogue, in a process that bench:catalogue starts. It tells its figures by their titles. */
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
import { createReadStream, statSync, writeFileSync } from 'node:fs';
import { helperArgument, tellMain } from '../services/helper.js';

/** What the control plane does, or what a follower does. */
export type Step =
  | readonly ['compile', folder: string, imageFile: string]
  | readonly ['load', imageFile: string, names: number];

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const CHUNK_BYTES = 1 << 22;
const LIMITS = { maxBytes: DEFAULT_LIMITS.maxBytes, timeoutMs: 3_600_000 };

async function compile(folder: string, imageFile: string) {
  const startMs = performance.now();
  const { categories } = await readDefinition(folder);
  const groups = [];
  for (const { id, name, sources } of categories) {
    const lists = [];
    for (const source of sources) {
      const opened = await openSource(source, LIMITS);
      if (opened.status !== 'opened') throw new Error('a list was read before');
      lists.push((await readNames(opened.body, source.format, KEY)).names);
    }
    groups.push({ id, name, lists });
  }
  const readMs = performance.now() - startMs;
  const { image, domainCount } = compileCatalogue({ categories: groups, applications: [] }, KEY);
  const compileMs = performance.now() - startMs - readMs;
  const peakKib = process.resourceUsage().maxRSS;
  writeFileSync(imageFile, image);
  return {
    names: domainCount,
    'read, s': readMs / 1_000,
    'compile, s': compileMs / 1_000,
    'peak memory, MiB': peakKib / 1_024,
    'image, MB': image.length / 1e6,
  };
}

/** Into memory, with SHA-256 and checksum. */
async function load(file: string, names: number) {
  const startMs = performance.now();
  const bytes = new Uint8Array(new SharedArrayBuffer(statSync(file).size));
  const hash = createHash('sha256');
  let at = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    hash.update(chunk as Buffer);
    bytes.set(chunk as Buffer, at);
    at += (chunk as Buffer).length;
  }
  hash.digest();
  const image = CatalogueImage.open(bytes, KEY);
  const loadMs = performance.now() - startMs;
  if (image.domainCount !== names) throw new Error('the image lacks names');
  return {
    'follower: load, s': loadMs / 1_000,
    'follower: peak memory, MiB': process.resourceUsage().maxRSS / 1_024,
  };
}

const [step, from, to] = helperArgument() as Step;
tellMain(await (step === 'compile' ? compile(from, to) : load(from, to)));
