/*
 * The measured subscriber: asks a steady mix of queries, and reports each of them. It also reports when it was late
 * itself.
 */
import { createSocket, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { encodeQuery, readAnswer, UPSTREAM_ADDRESS } from '../../deployment/dns-message.js';
import { nowMs, helperArgument, tellMain } from '../shared/helper-side.js';
import {
  BLOCK_PAGE,
  BLOCKED_ZONE,
  HEALTHY_ZONE,
  NEIGHBOUR_PORTS,
  POPULAR_ZONE,
  type Target,
  NEIGHBOUR,
  SERVER,
} from '../shared/target.js';
import { Recorder, GIVE_UP_MS, type Kind, type Measurements } from './sample.js';
import { askOnNewConnection, HttpsQueries, TlsQueries } from './stream-queries.js';

interface Open {
  readonly kind: Kind;
  readonly expected: string;
  readonly sentMs: number;
}

const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** Queries over UDP from one port of the neighbour. */
class UdpQueries {
  private readonly socket: Socket = createSocket({
    type: 'udp4',
    recvBufferSize: RECEIVE_BUFFER_BYTES,
  });
  /** By id, oldest first. */
  private readonly open = new Map<number, Open>();
  private id = 0;

  constructor(
    private readonly port: number,
    private readonly recorder: Recorder,
  ) {
    this.socket.on('message', (answer) => this.take(answer));
    this.socket.on('error', () => undefined); // An ICMP error for a query that stays without an answer.
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.bind(0, NEIGHBOUR, resolve));
  }

  ask(kind: Kind, query: Buffer, expected: string): void {
    this.id = (this.id + 1) & 0xffff;
    query.writeUInt16BE(this.id, 0);
    this.open.set(this.id, { kind, expected, sentMs: nowMs() });
    this.socket.send(query, this.port, SERVER);
  }

  /** Records the queries that have waited too long. */
  giveUp(): void {
    const before = nowMs() - GIVE_UP_MS;
    for (const [id, { kind, expected, sentMs }] of this.open) {
      if (sentMs > before) return;
      this.open.delete(id);
      this.recorder.record(kind, sentMs, null, expected);
    }
  }

  /** The local port. */
  get localPort(): number {
    return this.socket.address().port;
  }

  private take(answer: Buffer): void {
    const id = answer.readUInt16BE(0);
    const asked = this.open.get(id);
    if (asked === undefined) return;
    this.open.delete(id);
    this.recorder.record(asked.kind, asked.sentMs, readAnswer(answer), asked.expected);
  }
}

/** Columns of `/proc/net/udp` (proc_net(5)). */
const LOCAL_ADDRESS = 1;
const DROPS = 12;

/** Number of datagrams for these local ports that the kernel dropped because nobody read them; 0 outside of Linux. */
function countKernelDrops(ports: ReadonlySet<number>): number {
  let table: string;
  try {
    table = readFileSync('/proc/net/udp', 'utf8');
  } catch {
    return 0; // not Linux
  }
  let drops = 0;
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    const [, port = ''] = (columns[LOCAL_ADDRESS] ?? '').split(':');
    if (ports.has(Number.parseInt(port, 16))) drops += Number(columns[DROPS]);
  }
  return drops;
}

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
