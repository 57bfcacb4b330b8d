import type { HashKey } from '@weir/dns-name';
import { WatchedFile, type WatchedFileOptions } from '@weir/ops';
import { LocalRecords } from './local-records.js';

/** Enough for `MAX_RECORDS`, which take less than a tenth of a second; no query is answered meanwhile. */
const MAX_FILE_BYTES = 2 ** 20;

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
    parse: (text) => LocalRecords.parse(text, key),
    content: 'the local records',
    ...options,
  });
}
