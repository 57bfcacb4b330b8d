import { StartError } from '@weir/ops';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository, compiled. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Creates a folder that only its owner may enter, and missing parents.
 * @throws StartError that names DATA_DIR: all folders are created there.
 */
export function createFolder(path: string): void {
  try {
    createWithParents(path);
  } catch (error) {
    throw new StartError(`${path} cannot be made (DATA_DIR): ${(error as Error).message}`, {
      cause: error,
    });
  }
}

// Without `recursive: true`, which never ends below /proc.
function createWithParents(path: string): void {
  if (!existsSync(dirname(path))) createWithParents(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Writes a file that only its owner may read. It is complete, or it does not exist. */
export function writeFileAtomically(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}

/**
 * Locks a folder for this process until the lock is disposed of, or until the process exits. @throws StartError when
 * another process holds the lock.
 */
export function lockFolder(folder: string): Disposable {
  const file = lockFile(folder);
  const pid = ownerOf(folder);
  if (pid !== null) {
    throw new StartError(`${folder} is in use by another stack, pid ${pid} (DATA_DIR)`);
  }
  try {
    writeFileAtomically(file, identityOf(process.pid));
  } catch (error) {
    throw new StartError(`${folder} cannot be written (DATA_DIR): ${(error as Error).message}`, {
      cause: error,
    });
  }
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** The process that holds the lock of a folder; null: nobody does. */
export function ownerOf(folder: string): number | null {
  const file = lockFile(folder);
  const owner = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const pid = Number.parseInt(owner, 10);
  return owner !== '' && owner === identityOf(pid) ? pid : null;
}

function lockFile(folder: string): string {
  return `${folder}/stack.lock`;
}

/**
 * Identifies a process by id and start time, because ids are reused. Only the id if there is no such process, or if it
 * has ended and is listed until its parent asks for that (state Z).
 */
function identityOf(pid: number): string {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return `${pid} -`;
  // The fields after the command, which may contain blanks. The 20th is the start time in ticks since boot.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return `${pid} ${fields[0] === 'Z' ? '-' : (fields[19] ?? '-')}`;
}
