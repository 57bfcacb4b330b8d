import { readFileSync } from 'node:fs';

/** The upstreams take at most this part of the files that the process may open; the rest is for clients. */
const PART_OF_OPEN_FILES = 4;

/**
 * The limit of open files of this process, which Node.js has raised as far as it may. `Infinity` where it cannot be
 * read: `/proc` exists on Linux only.
 */
export function openFilesLimit(file = '/proc/self/limits'): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}

/** How many ports each upstream gets: as many as wanted, but all together leave enough open files for clients. */
export function portsFor(wanted: number, upstreamCount: number, openFiles: number): number {
  const most = Math.floor(openFiles / PART_OF_OPEN_FILES / upstreamCount);
  return Math.max(1, Math.min(wanted, most));
}
