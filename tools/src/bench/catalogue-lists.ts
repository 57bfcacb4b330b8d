import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { randomNumbers } from './scale/policy/names.js';

export const CATEGORIES = 60;
const SHARED = 10;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ENDS = ['com', 'net', 'org', 'de', 'info', 'ru', 'top', 'xyz', 'co.uk', 'com.br'];
const BUFFER_BYTES = 1 << 20;
const MAX_LINE_BYTES = 64;

/** Writes a catalogue folder of so many names, the same at every run. @returns the size of its lists in bytes. */
export function writeLists(folder: string, domains: number): number {
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

/** Writes one category's list: every 60th name, and every 600th of its neighbour's. @returns its size in bytes. */
function writeList(path: string, category: number, domains: number): number {
  const file = openSync(path, 'w');
  const bytes = Buffer.alloc(BUFFER_BYTES);
  let [total, used] = [0, 0];
  const flush = (): void => {
    writeSync(file, bytes, 0, used);
    total += used;
    used = 0;
  };
  const write = (n: number): void => {
    if (used + MAX_LINE_BYTES > BUFFER_BYTES) flush();
    used += bytes.write(nameOf(n), used, 'latin1');
  };
  for (let n = category; n < domains; n += CATEGORIES) write(n);
  const neighbour = (category + 1) % CATEGORIES;
  for (let n = neighbour; n < domains; n += CATEGORIES * SHARED) write(n);
  flush();
  closeSync(file);
  return total;
}

/** A line: 6 to 13 characters before the end, of which the last five count `n`; every fifth has a label more. */
function nameOf(n: number): string {
  const random = randomNumbers(n * 2_654_435_761);
  const letters = (length: number): string => {
    let text = '';
    for (let i = 0; i < length; i++) text += ALPHABET.charAt(random() % 26);
    return text;
  };
  let name = n % 5 === 0 ? `${letters(2 + (random() % 3))}.` : '';
  name += letters(1 + (random() % 8));
  for (let rest = n, digit = 0; digit < 5; digit++, rest = Math.floor(rest / 36)) {
    name += ALPHABET.charAt(rest % 36);
  }
  return `${name}.${ENDS[random() % ENDS.length] ?? ''}\n`;
}
