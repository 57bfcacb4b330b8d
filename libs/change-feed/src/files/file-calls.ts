import {
  appendFileSync,
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parentPort } from 'node:worker_threads';

// The program of a FileThread. It runs as it is, also from the sources, so it imports nothing but Node.

export interface ListedFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly writtenMs: number;
}

/** Makes a folder and missing parents, without `recursive: true`, which never ends below /proc. */
function makeFolder(path: string): void {
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** What a FileThread does for its owner. Each call takes as long as the disk does. */
const fileCalls = {
  makeFolder,
  list: (folder: string): ListedFile[] =>
    readdirSync(folder).map((name) => {
      const { size: sizeBytes, mtimeMs: writtenMs } = statSync(join(folder, name));
      return { name, sizeBytes, writtenMs };
    }),
  open: (path: string): number => openSync(path, 'r'),
  create: (path: string): number => openSync(path, 'w', 0o600),
  /** The next bytes; none at the end of the file. */
  read(file: number, maxBytes: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(maxBytes);
    return bytes.subarray(0, readSync(file, bytes));
  },
  /** The bytes from this position on; fewer at the end of the file. */
  readAt(file: number, position: number, maxBytes: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(maxBytes);
    return bytes.subarray(0, readSync(file, bytes, 0, maxBytes, position));
  },
  write: (file: number, data: string | Uint8Array): void => {
    appendFileSync(file, data);
  },
  flush: fdatasyncSync,
  close: closeSync,
  rename: renameSync,
  remove: (path: string): void => {
    rmSync(path, { force: true });
  },
  /** Replaces the text of a small file. @returns the text before; null: there was no such file */
  exchange(path: string, text: string): string | null {
    const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
    writeFileSync(path, text, { mode: 0o600 });
    return before;
  },
} as const;

export type FileCalls = typeof fileCalls;

/** Answers come in the order of the calls. */
parentPort?.on('message', (call: { name: keyof FileCalls; args: readonly unknown[] }) => {
  try {
    const work = fileCalls[call.name] as (...args: readonly unknown[]) => unknown;
    const result = work(...call.args);
    const bytes = result instanceof Uint8Array ? [result.buffer as ArrayBuffer] : [];
    parentPort?.postMessage({ result }, bytes);
  } catch (error) {
    // A copy of an error in another thread has no code.
    parentPort?.postMessage({ error, code: (error as NodeJS.ErrnoException).code });
  }
});
