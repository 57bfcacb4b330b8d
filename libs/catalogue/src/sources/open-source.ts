import type { SourceDefinition, SourceLocation } from '../definition/definition.js';
import type { ByteStream } from '../lists/list-limits.js';
import { openFile, openUt1 } from './open-file.js';
import { openUrl } from './open-url.js';

export interface OpenOptions {
  /** What `openSource` told of the version that is known: if it is still the current one, nothing is read. */
  readonly etag?: string | null;
  readonly lastModified?: string | null;
  /** Longest time until the last byte. */
  readonly timeoutMs: number;
  /** Longest time without a byte; half a minute by default. */
  readonly idleTimeoutMs?: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** A source that has not changed, or its bytes. */
export type OpenedSource =
  | { readonly status: 'unchanged' }
  | {
      readonly status: 'opened';
      /** To be read once, to its end or to a `break`. Throws CatalogueError when it breaks off, is late or too large. */
      readonly body: ByteStream;
      readonly etag: string | null;
      readonly lastModified: string | null;
    };

/**
 * Opens a source: a file, a folder of format ut1, or an http(s) URL, whose redirects are followed.
 * @throws CatalogueError in one line that holds neither the source's name nor credentials.
 */
export function openSource(source: SourceDefinition, options: OpenOptions): Promise<OpenedSource> {
  const { location, format } = source;
  if (format === 'ut1' && 'path' in location) return openUt1(location.path, options);
  return openLocation(location, options);
}

/** As `openSource`, of what is one file whatever its format. */
export function openLocation(
  location: SourceLocation,
  options: OpenOptions,
): Promise<OpenedSource> {
  return 'url' in location ? openUrl(location.url, options) : openFile(location.path, options);
}
