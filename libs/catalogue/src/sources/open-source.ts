import { CatalogueError } from '../catalogue-error.js';
import { openDlc, openFile, openUt1 } from './open-file.js';
import { isTransfer, openTransfer } from './open-transfer.js';
import { openUrl } from './open-url.js';
import type { OpenedSource, OpenOptions, Source, SourceLocation } from './source.js';

/**
 * Opens a source: a file, a folder of format ut1 or dlc, an http(s) URL, whose redirects are followed, or a zone.
 * @throws CatalogueError in one line that holds neither the source's name nor credentials.
 */
export function openSource(source: Source, options: OpenOptions): Promise<OpenedSource> {
  const { location, format, sha256, list } = source;
  if ('path' in location) {
    if (format === 'ut1') return openUt1(location.path, options);
    if (format === 'dlc') return openDlc(location.path, list ?? '', options);
  }
  return openLocation(location, { ...options, isPinned: sha256 !== null });
}

/** Like `openSource`, for a location that is one file in any format. */
export function openLocation(
  location: SourceLocation,
  options: OpenOptions,
): Promise<OpenedSource> {
  if ('path' in location) return openFile(location.path, options);
  return (isTransfer(location) ? openTransfer : openUrl)(location.url, options);
}

const ANOTHER = '; a mirror ';

/**
 * Does `attempt` with the location of a source, and with its mirrors one after the other as long as it fails. With a
 * mirror it is told what was wrong before.
 * @throws CatalogueError with the problem of the first location, and those of the mirrors.
 */
export async function tryMirrors<T>(
  { location, mirrors }: Pick<Source, 'location' | 'mirrors'>,
  attempt: (location: SourceLocation, problem: string | null) => Promise<T>,
): Promise<T> {
  const problems: string[] = [];
  for (const one of [location, ...mirrors]) {
    try {
      return await attempt(one, problems.length === 0 ? null : problems.join(ANOTHER));
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      problems.push(error.message);
    }
  }
  throw new CatalogueError(problems.join(ANOTHER));
}
