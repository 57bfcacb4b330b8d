import { openFile, openUt1 } from './open-file.js';
import { openUrl } from './open-url.js';
import type { OpenedSource, OpenOptions, Source, SourceLocation } from './source.js';

/**
 * Opens a source: a file, a folder of format ut1, or an http(s) URL, whose redirects are followed.
 * @throws CatalogueError in one line that holds neither the source's name nor credentials.
 */
export function openSource(source: Source, options: OpenOptions): Promise<OpenedSource> {
  const { location, format, sha256 } = source;
  if (format === 'ut1' && 'path' in location) return openUt1(location.path, options);
  return openLocation(location, { ...options, isPinned: sha256 !== null });
}

/** Like `openSource`, for a location that is one file in any format. */
export function openLocation(
  location: SourceLocation,
  options: OpenOptions,
): Promise<OpenedSource> {
  return 'url' in location ? openUrl(location.url, options) : openFile(location.path, options);
}
