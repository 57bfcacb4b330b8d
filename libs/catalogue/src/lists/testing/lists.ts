import { parseHashKey } from '@weir/dns-name';
import { expect } from 'vitest';
import { NameList } from '../../names/name-list.js';
import { type ListFormat, DEFAULT_LIMITS, type ListLimits, type ListReport } from '../list.js';
import { type ReadList, readNames } from '../read-names.js';

export const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');

/** Bytes as a stream of chunks of that size. */
// oxlint-disable-next-line typescript/require-await -- a stream of what is there already
export async function* chunksOf(bytes: Uint8Array, chunkBytes = 7): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    yield bytes.subarray(at, at + chunkBytes);
  }
}

/** Reads a list that comes in small chunks. */
export function read(
  list: string | Uint8Array,
  format: ListFormat,
  limits: Partial<ListLimits> = {},
): Promise<ReadList> {
  const bytes = typeof list === 'string' ? Buffer.from(list) : list;
  return readNames(chunksOf(bytes), format, KEY, { limits: { ...DEFAULT_LIMITS, ...limits } });
}

/** Reads a list that lists exactly these names. @returns its report. */
export async function expectNames(
  list: string | Uint8Array,
  format: ListFormat,
  domains: readonly string[],
): Promise<ListReport> {
  const { names, report } = await read(list, format);
  expect(names.words).toEqual(NameList.of(domains, KEY).words);
  return report;
}

/** An entry of a tar archive (ustar), padded to whole blocks. */
export function tarEntry(path: string, content: string, type = '0'): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0, 'latin1');
  header.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')} `, 124);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write('ustar\0' + '00', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const bytes = Buffer.from(content);
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

/** A tar archive of these entries. */
export function tarArchive(...entries: Buffer[]): Buffer {
  return Buffer.concat([...entries, Buffer.alloc(1024)]);
}
