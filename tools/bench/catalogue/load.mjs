// Loads an image from disk as a follower does: read, SHA-256, checksum. Prints one JSON object.
// Started by run.mjs.
import { CatalogueImage } from '@weir/catalogue';
import { parseHashKey } from '@weir/dns-name';
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const [file, names] = process.argv.slice(2);
const CHUNK_BYTES = 1 << 22;

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
const sha256 = hash.digest('hex');
const image = CatalogueImage.open(bytes, KEY);
const loadMs = performance.now() - startMs;
if (image.domainCount !== Number(names)) throw new Error('the image lacks names');
process.stdout.write(JSON.stringify({ loadMs, sha256, peakKib: process.resourceUsage().maxRSS }));
