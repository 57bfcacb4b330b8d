import type { ClientAddress, ClientConnections } from '@weir/clients';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import type { Endpoint } from '@weir/ops';
import { Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** For all targets of a name together; a visitor waits for it. */
const PATIENCE_MS = 1000;
/** Of one name. */
const MOST_TARGETS = 8;
/** Names of all visitors that are looked up at a time. */
const MOST_LOOKUPS = 1024;

/** Finds the names that a name leads to (CNAME), by asking upstream resolvers. */
export class CnameTargets {
  private readonly resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 });
  private lookups = 0;

  /**
   * @param upstreams undefined: the name servers of the system
   * @param shares lookups of one subscriber at a time, so that none takes those of others
   */
  constructor(
    upstreams: readonly Endpoint[] | undefined,
    private readonly shares: ClientConnections,
  ) {
    if (upstreams === undefined) return;
    this.resolver.setServers(
      upstreams.map(({ address, port }) =>
        isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`,
      ),
    );
  }

  /** The targets in their order, in normal form. None when nothing can be found out. */
  async *of(client: ClientAddress, name: string): AsyncGenerator<string> {
    const share = this.lookups < MOST_LOOKUPS ? this.shares.acquire(client) : null;
    if (share === null) return;
    this.lookups++;
    const deadlineMs = performance.now() + PATIENCE_MS;
    try {
      let next = name;
      for (let i = 0; i < MOST_TARGETS; i++) {
        const target = await this.targetOf(next, deadlineMs);
        if (target === null) return;
        yield target;
        next = target;
      }
    } finally {
      this.lookups--;
      this.shares.release(share);
    }
  }

  close(): void {
    this.resolver.cancel();
  }

  private async targetOf(name: string, deadlineMs: number): Promise<string | null> {
    const done = new AbortController();
    // The resolver's own timeout is longer where it has several servers.
    const silence = sleep(Math.max(0, deadlineMs - performance.now()), null, {
      signal: done.signal,
      ref: false,
    }).catch(() => null);
    const answer = this.resolver.resolveCname(name).catch((error: unknown) => {
      // No such record, or no answer: the chain ends here for us.
      if (isDnsError(error)) return [];
      throw error;
    });
    try {
      const target = (await Promise.race([answer, silence]))?.[0];
      return target === undefined ? null : normaliseDomain(target);
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    } finally {
      done.abort();
    }
  }
}

function isDnsError(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall === 'queryCname';
}
