import { named, sumOf } from './sums.js';

/** Counts of a forwarder, by position. `inFlight` and `waiting` are as they are now. */
export const ForwardingCount = {
  /** Queries that were rejected because too many of all subscribers were in flight, or waited. */
  overloads: 0,
  /** Queries that were rejected because their subscriber had its share already. */
  overShare: 1,
  /** Queries that were rejected because nothing in their zone is answered. */
  deadZone: 2,
  /** Queries that joined a question already in flight. */
  coalesced: 3,
  /** Questions that are in flight. */
  inFlight: 4,
  /** Clients that wait for an answer. */
  waiting: 5,
} as const;
const OWN = 6;

/** Counts of one upstream, by position. `latencyMs` and `down` are as they are now. */
export const UpstreamCount = {
  queries: 0,
  answers: 1,
  /** Answers with an error such as SERVFAIL or REFUSED: another upstream is asked, if there is one. */
  errors: 2,
  timeouts: 3,
  /** Attempts that failed at once: unreachable, a broken connection, an unusable answer. */
  failures: 4,
  /** Queries repeated over TCP, because the answer was truncated or somebody may forge it. */
  overTcp: 5,
  /** Answers to a query that is over. */
  late: 6,
  /** Packets that answer no query that was sent: forged or malformed. */
  strays: 7,
  /** Answers with the right id that may be forged: the question was asked again over TCP. */
  suspects: 8,
  /** Ports that were closed because many packets with wrong ids came to them. */
  spoofs: 9,
  /** Connections on which TLS failed: the certificate was not accepted, or it was no TLS. */
  tlsErrors: 10,
  /** Queries of our own, which are not among `queries`, and answers to them. */
  probes: 11,
  probeAnswers: 12,
  /** TCP connections opened, with those of TLS. */
  connections: 13,
  /** System calls that have sent queries. */
  batches: 14,
  /** Answers that the kernel has dropped because the receive buffer of their socket was full. */
  kernelDrops: 15,
  /** Smoothed time to an answer; 0 before the first. */
  latencyMs: 16,
  /** 1 while it does not answer probes. */
  down: 17,
} as const;
/** From here on: answers with an error, by RCODE below 16. */
export const ERRORS_BY_RCODE = 18;
const RCODES = 16;
const OF_UPSTREAM = ERRORS_BY_RCODE + RCODES;

/** What one forwarder counts. Its thread writes the numbers, and another one may read them. */
export class ForwardingCounts {
  /** By `ForwardingCount`. */
  readonly own: Float64Array;
  /** Of each upstream, by `UpstreamCount` and `ERRORS_BY_RCODE`. */
  readonly upstreams: readonly Float64Array[];

  static sizeFor(upstreams: number): number {
    return OWN + upstreams * OF_UPSTREAM;
  }

  /** @param numbers where it counts: `sizeFor` numbers */
  constructor(numbers: Float64Array) {
    this.own = numbers.subarray(0, OWN);
    const count = (numbers.length - OWN) / OF_UPSTREAM;
    this.upstreams = Array.from({ length: count }, (_, upstream) => {
      const at = OWN + upstream * OF_UPSTREAM;
      return numbers.subarray(at, at + OF_UPSTREAM);
    });
  }
}

/** Sums over threads. */
export type UpstreamTotals = Readonly<Record<keyof typeof UpstreamCount, number>> & {
  readonly errorsByRcode: readonly number[];
};

export type ForwardingTotals = Readonly<Record<keyof typeof ForwardingCount, number>> & {
  readonly upstreams: readonly UpstreamTotals[];
};

/** What the forwarders of all threads have counted together. All have the same upstreams. */
export function forwardingTotals(threads: readonly ForwardingCounts[]): ForwardingTotals {
  const own = sumOf(threads.map((counts) => counts.own));
  const upstreams = threads[0].upstreams.map((_, i) =>
    upstreamTotals(threads.map((counts) => counts.upstreams[i])),
  );
  return { ...named(ForwardingCount, own), upstreams };
}

/**
 * Of the counts of one upstream in each thread. `latencyMs` is the mean over all answers, `down` the number of threads
 * for which it is down.
 */
export function upstreamTotals(threads: readonly Float64Array[]): UpstreamTotals {
  const sum = sumOf(threads);
  const errorsByRcode = [...sum.subarray(ERRORS_BY_RCODE)];
  return { ...named(UpstreamCount, sum), latencyMs: meanLatencyMs(threads), errorsByRcode };
}

function meanLatencyMs(threads: readonly Float64Array[]): number {
  let sumMs = 0;
  let answers = 0;
  for (const counts of threads) {
    const measured = counts[UpstreamCount.answers] + counts[UpstreamCount.probeAnswers];
    sumMs += counts[UpstreamCount.latencyMs] * measured;
    answers += measured;
  }
  return answers === 0 ? 0 : sumMs / answers;
}
