/*
 * The measured subscriber: asks a steady mix of queries, and reports each of them. It also reports when it was late
 * itself.
 */
import { encodeQuery } from '../../deployment/dns-message.js';
import { UPSTREAM_ADDRESS } from '../../deployment/upstream.js';
import { nowMs } from '../shared/clock.js';
import { helperArgument, tellMain } from '../shared/helper-side.js';
import { countKernelDrops } from './kernel-drops.js';
import {
  BLOCK_PAGE,
  BLOCKED_ZONE,
  HEALTHY_ZONE,
  NEIGHBOUR_PORTS,
  POPULAR_ZONE,
  type Target,
} from '../shared/target.js';
import { Recorder } from './recorder.js';
import type { Kind, Measurements } from './sample.js';
import { askOnNewConnection, HttpsQueries, TlsQueries } from './stream-queries.js';
import { UdpQueries } from './udp-queries.js';

const TICK_MS = 1;
/** A timer may come a millisecond late without anybody's fault. */
const MAX_LATE_MS = 2;
const REPORT_MS = 250;
const GIVE_UP_CHECK_MS = 100;
const SOCKETS = 4;
const POPULAR_NAMES = 50;
const BLOCKED_NAMES = 50;

/** How many queries of each kind in a second. */
const RATES: Readonly<Record<Kind, number>> = {
  cached: 160,
  blocked: 120,
  fresh: 120,
  tcp: 20,
  dot: 20,
  doh: 20,
  tls: 2,
};

const target = helperArgument() as Target;
const recorder = new Recorder();
const udp = Array.from({ length: SOCKETS }, () => new UdpQueries(target.dnsPort, recorder));
const overTls = new TlsQueries(target.tlsPort, recorder);
const overHttps = new HttpsQueries(target.httpsPort, recorder);

const popular = (n: number): Buffer => encodeQuery(0, `n${n % POPULAR_NAMES}.${POPULAR_ZONE}`);

const ASK: Readonly<Record<Kind, (n: number) => void>> = {
  cached: (n) => udp[n % SOCKETS]?.ask('cached', popular(n), UPSTREAM_ADDRESS),
  blocked: (n) => {
    const query = encodeQuery(0, `b${n % BLOCKED_NAMES}.${BLOCKED_ZONE}`);
    udp[n % SOCKETS]?.ask('blocked', query, BLOCK_PAGE);
  },
  fresh: (n) => {
    const query = encodeQuery(0, `f${n}-${target.seed}.${HEALTHY_ZONE}`);
    udp[n % SOCKETS]?.ask('fresh', query, UPSTREAM_ADDRESS);
  },
  tcp: (n) => askOnNewConnection('tcp', target, popular(n), UPSTREAM_ADDRESS, recorder),
  tls: (n) => askOnNewConnection('tls', target, popular(n), UPSTREAM_ADDRESS, recorder),
  dot: (n) => overTls.ask(popular(n), UPSTREAM_ADDRESS),
  doh: (n) => overHttps.ask(popular(n), UPSTREAM_ADDRESS),
};

const kinds = Object.entries(RATES).map(([kind, rate]) => ({
  ask: ASK[kind as Kind],
  everyMs: 1_000 / rate,
  nextMs: 0,
  asked: 0,
}));

await Promise.all(udp.map((one) => one.start()));
const ports = new Set(udp.map(({ localPort }) => localPort));
if (Math.min(...ports) < NEIGHBOUR_PORTS) throw new Error('a source port is outside of the range');
let beforeMs = nowMs();
// Spread, so that not all kinds ask in the same millisecond.
for (const [i, one] of kinds.entries()) one.nextMs = beforeMs + (one.everyMs * i) / kinds.length;

setInterval(() => {
  const timeMs = nowMs();
  if (timeMs - beforeMs > TICK_MS + MAX_LATE_MS)
    recorder.recordGap({ fromMs: beforeMs, toMs: timeMs });
  beforeMs = timeMs;
  for (const one of kinds) {
    if (timeMs < one.nextMs) continue;
    one.ask(one.asked++);
    // What was not asked in time is left out: the mix stays steady.
    one.nextMs = Math.max(one.nextMs + one.everyMs, timeMs);
  }
}, TICK_MS);
setInterval(() => {
  for (const one of udp) one.giveUp();
}, GIVE_UP_CHECK_MS);
setInterval(() => {
  tellMain({
    ...recorder.take(),
    unreadAnswers: countKernelDrops(ports),
  } satisfies Measurements);
}, REPORT_MS);
tellMain('ready');
