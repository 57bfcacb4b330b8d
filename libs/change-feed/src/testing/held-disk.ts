import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const FILE_CALLS = '../files/file-calls.ts';
const DATABASE_CALLS = '../disk/database-program.ts';

/** Makes each call wait for the FIFO while it is there. */
const gateOf = (fifo: string): string => `
import { existsSync, readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
parentPort.on('message', () => {
  if (existsSync(${JSON.stringify(fifo)})) readFileSync(${JSON.stringify(fifo)});
});
`;

/** A disk that can be held, so that calls wait for it until it is released. */
export class HeldDisk {
  /** For a `FileThread` of files, and of a database. */
  readonly program: URL;
  readonly databaseProgram: URL;

  /** @param fifo a path that is free, also with something behind it. */
  constructor(private readonly fifo: string) {
    this.program = this.gated(FILE_CALLS, `${fifo}-files.mjs`);
    this.databaseProgram = this.gated(DATABASE_CALLS, `${fifo}-database.mjs`);
  }

  hold(): void {
    execFileSync('mkfifo', [this.fifo]);
  }

  release(): void {
    // Opened for both, so that this does not wait for a reader. A reader gets the end of the file.
    const file = openSync(this.fifo, 'r+');
    rmSync(this.fifo);
    closeSync(file);
  }

  private gated(program: string, path: string): URL {
    const { href } = new URL(program, import.meta.url);
    const { fifo } = this;
    const gate = `data:text/javascript,${encodeURIComponent(gateOf(fifo))}`;
    // In this order, so that the gate is asked first.
    writeFileSync(path, [gate, href].map((one) => `import ${JSON.stringify(one)};\n`).join(''));
    return pathToFileURL(path);
  }
}
