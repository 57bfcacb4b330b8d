import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const FILE_CALLS = new URL('../files/file-calls.ts', import.meta.url).href;

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
  /** For a `FileThread`. */
  readonly program: URL;

  /** @param fifo a path that is free, also with `.mjs` behind it. */
  constructor(private readonly fifo: string) {
    const path = `${fifo}.mjs`;
    const gate = `data:text/javascript,${encodeURIComponent(gateOf(fifo))}`;
    // In this order, so that the gate is asked first.
    writeFileSync(
      path,
      [gate, FILE_CALLS].map((one) => `import ${JSON.stringify(one)};\n`).join(''),
    );
    this.program = pathToFileURL(path);
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
}
