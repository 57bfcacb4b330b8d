import { StartError } from '@weir/ops';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder that only its owner may enter, and the folders above it.
 * @throws StartError naming DATA_DIR, the only place where folders are made.
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

// Not mkdir's own recursion, which never ends below /proc.
function createWithParents(path: string): void {
  if (!existsSync(dirname(path))) createWithParents(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Writes a file for its owner alone, whole or not at all. */
export function writeFileAtomically(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}

/**
 * Takes a folder for this process until `release`, or until the process is gone. @throws StartError when another
 * process has it.
 */
export function lockFolder(folder: string): { release(): void } {
  const file = `${folder}/stack.lock`;
  const owner = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const pid = Number.parseInt(owner, 10);
  if (owner !== '' && owner === identityOf(pid)) {
    throw new StartError(`${folder} is in use by another stack, pid ${pid} (DATA_DIR)`);
  }
  try {
    writeFileAtomically(file, identityOf(process.pid));
  } catch (error) {
    throw new StartError(`${folder} cannot be written (DATA_DIR): ${(error as Error).message}`, {
      cause: error,
    });
  }
  return {
    release: () => {
      rmSync(file, { force: true });
    },
  };
}

/** A process by its id and start, because ids come round again; only the id when there is no such process. */
function identityOf(pid: number): string {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return `${pid} -`;
  // The fields behind the command, which may hold blanks: the 20th of them is the start time in ticks since boot.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return `${pid} ${fields[19] ?? '-'}`;
}
