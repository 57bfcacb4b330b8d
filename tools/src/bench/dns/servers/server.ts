import type { Child } from '../../../services/child.js';

/** What a server is started with. The same in all rounds of a job. */
export interface ServerSetup {
  /** A folder of its own. */
  readonly folder: string;
  /** UDP port on 127.0.0.1. */
  readonly port: number;
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
