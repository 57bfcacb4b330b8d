import type { HashKey } from '@weir/dns-name';
import { WatchedFile, type WatchedFileOptions } from '@weir/ops';
import { LocalRecords } from './local-records.js';
import { readRecords } from './read-records.js';

/** Enough for `MAX_RECORDS`. */
const MAX_FILE_BYTES = 2 ** 18;

/** Opens the file of `LOCAL_RECORDS`. @throws StartError when it is not usable. */
export function openLocalRecords(
  file: string,
  key: HashKey,
  options: Pick<WatchedFileOptions<LocalRecords>, 'log' | 'checkMs' | 'onChange'>,
): WatchedFile<LocalRecords> {
  return new WatchedFile({
    variable: 'LOCAL_RECORDS',
    file,
    maxBytes: MAX_FILE_BYTES,
    parse: (text) => LocalRecords.of(readRecords(text), key),
    content: 'the local records',
    ...options,
  });
}
