import { parseQuery, QueryStatus } from '@weir/dns-wire';
import { UpstreamCount } from '../metrics/forwarding-counts.js';
import { InFlight, MAX_ATTEMPTS, type QuerySocket } from './in-flight.js';
import type { Upstream } from './upstream.js';

/** The name servers of the root, with RD. Every resolver knows them, and no subscriber has a say in the answer. */
const ROOT_NS = Uint8Array.of(0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1);
/** Minimum time between two reports about one upstream. */
const REPORT_MS = 10_000;

export interface StateListener {
  /** An upstream that was down answers again. */
  onRecovered(): void;
  /** For the log: an upstream went down, or answers again. */
  onReport(upstream: Upstream, answers: boolean): void;
}

/** What was reported last about an upstream. */
interface Report {
  isReportedDown: boolean;
  quietUntilMs: number;
}

/**
 * Probes the upstreams whenever `UpstreamHealth` asks for it. A probe goes the way of all queries: same sockets, random
 * id, EDNS. Any answer to it counts, whatever its RCODE.
 */
export class Prober {
  /** The probes of each upstream. The attempts of one are the last three probes, so that a late answer counts. */
  private readonly probes: readonly InFlight[];
  private readonly reports: readonly Report[];

  /** @param send sends an attempt that has begun */
  constructor(
    private readonly upstreams: readonly Upstream[],
    private readonly send: (entry: InFlight, attempt: number, socket: QuerySocket) => void,
    private readonly listener: StateListener,
  ) {
    this.probes = upstreams.map(createProbe);
    this.reports = upstreams.map(() => ({ isReportedDown: false, quietUntilMs: 0 }));
  }

  /** Called regularly. */
  tick(nowMs: number): void {
    for (const upstream of this.upstreams) {
      if (upstream.health.isProbeDue(nowMs)) this.probe(upstream, nowMs);
      this.watch(upstream, nowMs);
    }
  }

  /** One of the last probes is answered. `UpstreamHealth` knows already. */
  onAnswer(probe: InFlight, attempt: number, nowMs: number): void {
    const upstream = this.upstreams[probe.upstreams[attempt]];
    upstream.counts[UpstreamCount.probeAnswers]++;
    upstream.recordLatency(nowMs - probe.startedMs[attempt]);
    endAttempts(probe);
  }

  private probe(upstream: Upstream, nowMs: number): void {
    const probe = this.probes[upstream.index];
    if (probe.attemptCount === MAX_ATTEMPTS) endAttempts(probe);
    const socket = upstream.sockets.choose(nowMs);
    upstream.counts[UpstreamCount.probes]++;
    const attempt = probe.beginAttempt(upstream.index, socket, nowMs);
    probe.withEdns[attempt] = upstream.hasEdns(nowMs) ? 1 : 0;
    if (socket === null) upstream.health.recordUnreachable();
    else this.send(probe, attempt, socket);
  }

  /**
   * Writes whether it is down into its counts, and reports a change. One that follows soon after the last is reported
   * later, unless it is over by then.
   */
  private watch(upstream: Upstream, nowMs: number): void {
    const { counts } = upstream;
    const { isDown } = upstream.health;
    if (counts[UpstreamCount.down] === 1 && !isDown) this.listener.onRecovered();
    counts[UpstreamCount.down] = isDown ? 1 : 0;
    const report = this.reports[upstream.index];
    if (report.isReportedDown === isDown || nowMs < report.quietUntilMs) return;
    report.isReportedDown = isDown;
    report.quietUntilMs = nowMs + REPORT_MS;
    this.listener.onReport(upstream, !isDown);
  }
}

function createProbe(): InFlight {
  const probe = new InFlight(true);
  const { exchange } = probe;
  probe.packet.set(ROOT_NS);
  exchange.bytes = ROOT_NS;
  exchange.length = ROOT_NS.length;
  if (parseQuery(exchange.bytes, exchange.length, exchange.query) !== QueryStatus.ok) {
    throw new Error('the probe is not a valid query');
  }
  return probe;
}

function endAttempts(probe: InFlight): void {
  for (let i = 0; i < probe.attemptCount; i++) probe.endAttempt(i);
  probe.attemptCount = 0;
}
