import { readFileSync } from 'node:fs';
import { crc32, inflateRawSync } from 'node:zlib';

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
