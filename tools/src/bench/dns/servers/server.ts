import { spawnSync } from 'node:child_process';
import { createWriteStream, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Certificate } from '../../../services/certificate.js';
import { type Child, startChild } from '../../../services/child.js';
import type { Transport } from '../jobs.js';

const SERVER_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** How to start another DNS server. */
interface Peer {
  readonly name: string;
  readonly debianPackage: string;
  readonly command: string;
  readonly args: (setup: ServerSetup) => readonly string[];
  /** File names in the folder, with their lines. */
  readonly files: (setup: ServerSetup) => Readonly<Record<string, Iterable<string>>>;
}

export function peer({ name, debianPackage, command, args, files }: Peer): Server {
  return {
    name,
    debianPackage,
    isInstalled: () => spawnSync('which', [command], { env: { PATH: SERVER_PATH } }).status === 0,
    prepare: async (setup) => {
      for (const [file, lines] of Object.entries(files(setup))) {
        await writeLines(join(setup.folder, file), lines);
      }
    },
    start: (setup) => {
      // An earlier process may have left its cache.
      for (const file of readdirSync(setup.folder)) {
        if (!(file in files(setup))) rmSync(join(setup.folder, file), { recursive: true });
      }
      const child = startChild({
        name,
        command,
        args: args(setup),
        env: { PATH: SERVER_PATH },
        cwd: setup.folder,
        logFile: join(setup.folder, 'log'),
        prefix: setup.prefix,
      });
      return Promise.resolve(child);
    },
  };
}

/** Writes lines to a file, however many. */
export async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  writeFileSync(path, '');
  await pipeline(Readable.from(chunks(lines)), createWriteStream(path));
}

const CHUNK_LINES = 10_000;

function* chunks(lines: Iterable<string>): Generator<string> {
  let chunk: string[] = [];
  for (const line of lines) {
    chunk.push(line);
    if (chunk.length < CHUNK_LINES) continue;
    yield `${chunk.join('\n')}\n`;
    chunk = [];
  }
  if (chunk.length > 0) yield `${chunk.join('\n')}\n`;
}

/** Passes each value through `make`. */
export function* map<T, U>(values: Iterable<T>, make: (value: T) => U): Generator<U> {
  for (const value of values) yield make(value);
}

/** What a server is started with. The same in all rounds of a job. */
export interface ServerSetup {
  /** A folder of its own. */
  readonly folder: string;
  /** UDP and TCP port on 127.0.0.1. */
  readonly port: number;
  readonly transport: Transport;
  /** TCP port on 127.0.0.1 for the transports `dot` and `doh`. */
  readonly tlsPort: number;
  readonly certificate: Certificate;
  /** UDP port of the upstream on 127.0.0.1. */
  readonly upstreamPort: number;
  /** Domains that it blocks with `BLOCK_ADDRESS`, with all names below them. */
  readonly blockedDomains: () => Iterable<string>;
  /** Command in front of the server's (`taskset …`). */
  readonly prefix: readonly string[];
}

/** A DNS server of the comparison. */
export interface Server {
  readonly name: string;
  /** The Debian package, for those who want to install it. Null: part of this repository. */
  readonly debianPackage: string | null;
  isInstalled(): boolean;
  /** Writes its settings and lists to its folder, once for all processes of a job. */
  prepare(setup: ServerSetup): Promise<void>;
  /**
   * Starts a process with one thread for DNS, which knows nothing of an earlier one. It may not answer yet when this
   * resolves.
   */
  start(setup: ServerSetup): Promise<Child>;
}
