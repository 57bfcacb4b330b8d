import { readVersion, showUpstream } from '@weir/ops';
import type { OwnStatus } from '@weir/policy-feed';
import type { DnsService } from './dns-service.js';
import type { BoundAddresses } from './listeners/listening-sockets.js';
import { machineInterfaces } from './upstream/own-address.js';

/** Times between which rates and ratios are measured: ten seconds, when one is told every two. */
const MEASURED = 5;

/** What was counted until then. */
interface Counted {
  readonly atMs: number;
  readonly answered: number;
  readonly blocked: number;
  readonly hit: number;
  readonly miss: number;
}

/** What this resolver tells the control plane of itself, for people. It reads the counters of the metrics. */
export class StatusReport {
  private readonly counted: Counted[] = [];
  private readonly version = readVersion(new URL('../../../package.json', import.meta.url), {});

  constructor(
    private readonly dns: BoundAddresses,
    private readonly service: Pick<DnsService, 'counts' | 'cache' | 'lanes' | 'upstreams'>,
  ) {}

  /** @param nowMs of a monotonic clock */
  read(nowMs: number): OwnStatus {
    const { counts, cache, lanes } = this.service;
    const { hit, miss } = cache.counters;
    const { upstreams } = counts.forwarding;
    const now: Counted = { atMs: nowMs, ...counts.queries.totals(), hit, miss };
    const before = this.counted.length === MEASURED ? this.counted.shift() : this.counted[0];
    this.counted.push(now);
    const since = (count: keyof Counted): number => now[count] - (before ?? now)[count];
    return {
      address: showUpstream({ address: ownAddress(this.dns), port: this.dns.port }),
      version: this.version,
      threads: lanes.udp.filter(({ isRunning }) => isRunning).length,
      answersPerSecond: ratio(since('answered') * 1000, since('atMs')) ?? 0,
      cacheHitRatio: ratio(since('hit'), since('hit') + since('miss')),
      blockedRatio: ratio(since('blocked'), since('answered')),
      upstreams: this.service.upstreams.map((endpoint, index) => ({
        address: showUpstream(endpoint),
        state: upstreams[index].down === 0 ? 'up' : 'down',
      })),
    };
  }
}

/** The first address that it listens on. If that is all of the machine, the first by which others reach this one. */
function ownAddress({ addresses: [first] }: BoundAddresses): string {
  if (first !== '0.0.0.0' && first !== '::') return first;
  const machine = Object.values(machineInterfaces()).flatMap((addresses) => addresses ?? []);
  const reachable = machine.find(
    ({ internal, family, address }) =>
      !internal && !address.startsWith('fe80:') && (first === '::' || family === 'IPv4'),
  );
  return reachable?.address ?? first;
}

/** Rounded to three digits; null: of nothing. */
function ratio(of: number, all: number): number | null {
  return all <= 0 ? null : Math.round((of / all) * 1000) / 1000;
}
