import type { ClientAddress, SubscriberKey } from '@weir/clients';
import { DomainError, normaliseDomain } from '@weir/dns-name';
import { type Endpoint, type Logger, showUpstream, type UpstreamEndpoint } from '@weir/ops';
import { Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** For all targets of a name together, because a visitor waits. */
const LOOKUP_TIMEOUT_MS = 1000;
/** Maximum number of targets of one name. */
const MAX_TARGETS = 8;
/** Maximum number of concurrent lookups, for all visitors and for one subscriber. */
const MAX_LOOKUPS = 1024;
const LOOKUPS_PER_SUBSCRIBER = 8;

/**
 * Leaves out upstreams that are to be asked over TLS only, and says so: lookups are in clear text.
 * @returns undefined for the name servers of the system, an empty list when nobody may be asked
 */
export function plainUpstreams(
  upstreams: readonly UpstreamEndpoint[] | undefined,
  log: Pick<Logger, 'warn'>,
): readonly Endpoint[] | undefined {
  const plain = upstreams?.filter(({ tls }) => tls === undefined);
  if (plain?.length === 0) {
    log.warn('UPSTREAMS has only upstreams with tls://: CNAME targets are not looked up');
  } else if (plain?.length !== upstreams?.length) {
    log.warn('UPSTREAMS with tls:// are not asked for CNAME targets');
  }
  return plain;
}

/** Finds the CNAME targets of a name by asking upstream resolvers. */
export class CnameTargets {
  private readonly resolver = new Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: 1 });
  private lookups = 0;
  /** Only subscribers with concurrent lookups. */
  private readonly lookupsOf = new Map<string, number>();

  /** @param upstreams undefined: the name servers of the system */
  constructor(
    upstreams: readonly Endpoint[] | undefined,
    private readonly subscriber: SubscriberKey,
  ) {
    if (upstreams === undefined) return;
    this.resolver.setServers(upstreams.map(showUpstream));
  }

  /** The targets in the order of the chain, in normal form. None if the lookup fails. */
  async *of(client: ClientAddress, name: string): AsyncGenerator<string> {
    this.subscriber.identify(client);
    const subscriber = `${this.subscriber.first} ${this.subscriber.second}`;
    const own = this.lookupsOf.get(subscriber) ?? 0;
    if (this.lookups >= MAX_LOOKUPS || own >= LOOKUPS_PER_SUBSCRIBER) return;
    this.lookups++;
    this.lookupsOf.set(subscriber, own + 1);
    const deadlineMs = performance.now() + LOOKUP_TIMEOUT_MS;
    try {
      let next = name;
      for (let i = 0; i < MAX_TARGETS; i++) {
        const target = await this.targetOf(next, deadlineMs);
        if (target === null) return;
        yield target;
        next = target;
      }
    } finally {
      this.lookups--;
      const left = (this.lookupsOf.get(subscriber) ?? 1) - 1;
      if (left > 0) this.lookupsOf.set(subscriber, left);
      else this.lookupsOf.delete(subscriber);
    }
  }

  close(): void {
    this.resolver.cancel();
  }

  private async targetOf(name: string, deadlineMs: number): Promise<string | null> {
    const done = new AbortController();
    // With several servers the resolver's own timeout is longer.
    const silence = sleep(Math.max(0, deadlineMs - performance.now()), null, {
      signal: done.signal,
      ref: false,
    }).catch(() => null);
    const answer = this.resolver.resolveCname(name).catch((error: unknown) => {
      // No such record or no answer: the chain ends here.
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
