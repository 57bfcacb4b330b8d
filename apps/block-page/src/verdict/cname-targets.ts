import type { ClientAddress, SubscriberKey } from '@weir/clients';
import { domainOrNull } from '@weir/dns-name';
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
    const done = new AbortController();
    // With several servers the resolver's own timeout is longer.
    const options = { signal: done.signal, ref: false };
    const silence = sleep(LOOKUP_TIMEOUT_MS, null, options).catch(() => null);
    try {
      let next = name;
      for (let i = 0; i < MAX_TARGETS; i++) {
        const target = await this.targetOf(next, silence);
        if (target === null) return;
        yield target;
        next = target;
      }
    } finally {
      done.abort();
      this.lookups--;
      const left = (this.lookupsOf.get(subscriber) ?? 1) - 1;
      if (left > 0) this.lookupsOf.set(subscriber, left);
      else this.lookupsOf.delete(subscriber);
    }
  }

  close(): void {
    this.resolver.cancel();
  }

  private async targetOf(name: string, silence: Promise<null>): Promise<string | null> {
    try {
      const targets = await Promise.race([this.resolver.resolveCname(name), silence]);
      return targets === null || targets.length === 0 ? null : domainOrNull(targets[0]);
    } catch (error) {
      // No such record, or no answer: the chain ends here.
      if ((error as NodeJS.ErrnoException).syscall === 'queryCname') return null;
      throw error;
    }
  }
}
