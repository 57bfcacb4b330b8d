// The lists that the benchmark reads: deterministic names, made as bytes.
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { randomNumbers } from '../policy/names.mjs';

export const CATEGORIES = 60;
const SHARED = 10;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ENDS = ['com', 'net', 'org', 'de', 'info', 'ru', 'top', 'xyz', 'co.uk', 'com.br'];
const BUFFER_BYTES = 1 << 20;
const MAX_LINE_BYTES = 64;

/** A name of 4 to 14 characters before its end, of which the last five count `n`; every fifth has a label more. */
function writeName(bytes, start, n, random) {
  let at = start;
  const label = (length) => {
    for (let i = 0; i < length; i++) bytes[at++] = ALPHABET.charCodeAt(random() % 26);
  };
  if (n % 5 === 0) {
    label(2 + (random() % 3));
    bytes[at++] = 0x2e;
  }
  label(1 + (random() % 8));
  for (let rest = n, digit = 0; digit < 5; digit++, rest = Math.floor(rest / 36)) {
    bytes[at++] = ALPHABET.charCodeAt(rest % 36);
  }
  bytes[at++] = 0x2e;
  const end = ENDS[random() % ENDS.length];
  for (let i = 0; i < end.length; i++) bytes[at++] = end.charCodeAt(i);
  bytes[at++] = 0x0a;
  return at;
}

/** Writes one category's list: every 60th name, and every 600th of its neighbour's. @returns its size in bytes. */
function writeList(path, category, domains) {
  const file = openSync(path, 'w');
  const bytes = new Uint8Array(BUFFER_BYTES);
  let total = 0;
  let used = 0;
  const flush = () => {
    writeSync(file, bytes, 0, used);
    total += used;
    used = 0;
  };
  const write = (n) => {
    if (used + MAX_LINE_BYTES > BUFFER_BYTES) flush();
    used = writeName(bytes, used, n, randomNumbers(n * 2654435761));
  };
  for (let n = category; n < domains; n += CATEGORIES) write(n);
  const neighbour = (category + 1) % CATEGORIES;
  for (let n = neighbour; n < domains; n += CATEGORIES * SHARED) write(n);
  flush();
  closeSync(file);
  return total;
}

/** Writes a catalogue folder of so many names. @returns the size of its lists in bytes. */
export function writeLists(folder, domains) {
  mkdirSync(join(folder, 'lists'));
  let bytes = 0;
  let yaml = 'categories:\n';
  for (let category = 0; category < CATEGORIES; category++) {
    const file = `lists/${category}.txt`;
    bytes += writeList(join(folder, file), category, domains);
    yaml += `  - { id: ${category}, name: category ${category}, sources: [{ file: ${file}, format: domains }] }\n`;
  }
  writeFileSync(join(folder, 'catalogue.yaml'), yaml);
  return bytes;
}
