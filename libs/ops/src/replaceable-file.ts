import { readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StartError } from './start-error.js';

/** ENOENT: there is nothing yet. EINVAL: it is no link. */
const NOTHING = new Set(['ENOENT', 'EINVAL']);

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** @returns null when there is nothing, or nothing of that kind */
function orNull<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (NOTHING.has((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  });
}

/**
 * The file to rename another one over, so that `path` has the new contents: a link stays, and what it leads to is
 * replaced.
 * @throws StartError when a device, a pipe or a folder is there, which a rename would destroy
 */
export async function replaceableFile(path: string): Promise<string> {
  let file = (await orNull(realpath(path))) ?? path;
  // A link that leads to nothing yet.
  for (let i = 0; i < MAX_LINKS; i++) {
    const to = await orNull(readlink(file));
    if (to === null) break;
    file = resolve(await realpath(dirname(file)), to);
  }
  const found = await orNull(stat(path));
  if (found !== null && !found.isFile()) throw new StartError(`${path} is not a regular file`);
  return file;
}
