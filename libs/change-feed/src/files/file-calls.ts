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
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';

// The program of a FileThread. It runs as it is, also from the sources, so it imports nothing but Node.

/** A call, and its answer. Answers come in the order of the calls. */
export interface FileCall {
  readonly name: keyof FileCalls;
  readonly args: readonly unknown[];
}
export type FileReply =
  | { readonly result: unknown }
  | { readonly error: Error; readonly code: string | undefined };

export interface ListedFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly writtenMs: number;
}

/** What a FileThread does for its owner. Each call takes as long as the disk does. */
export const fileCalls = {
  makeFolder: (path: string): void => void mkdirSync(path, { recursive: true, mode: 0o700 }),
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

function answer({ name, args }: FileCall): FileReply {
  try {
    return { result: (fileCalls[name] as (...args: readonly unknown[]) => unknown)(...args) };
  } catch (error) {
    // A copy of an error in another thread has no code.
    return { error: error as Error, code: (error as NodeJS.ErrnoException).code };
  }
}

parentPort?.on('message', (call: FileCall) => {
  const reply = answer(call);
  const isBytes = 'result' in reply && reply.result instanceof Uint8Array;
  parentPort?.postMessage(reply, isBytes ? [(reply.result as Uint8Array<ArrayBuffer>).buffer] : []);
});
