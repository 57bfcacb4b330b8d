/** The measured subscriber: asks a steady mix of queries, and reports each of them, and when it was late itself. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as openHttp2, type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { encodeQuery, readAnswer, UPSTREAM_ADDRESS } from '../deployment/dns-message.js';
import { helperArgument, tellMain } from '../services/helper.js';
import { type Gap, GIVE_UP_MS, type Kind, type Report, type Sample } from './verdict.js';
import {
  BLOCK_PAGE,
  BLOCKED_ZONE,
  frame,
  HEALTHY_ZONE,
  NEIGHBOUR,
  NEIGHBOUR_PORTS,
  nowMs,
  POPULAR_ZONE,
  readFrames,
  SERVER,
  type Target,
} from './target.js';

const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
const TICK_MS = 1;
/** A timer may come a millisecond late without anybody's fault. */
const MAX_LATE_MS = 2;
const REPORT_MS = 250;
const UDP_SOCKETS = 4;
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
let samples: Sample[] = [];
let gaps: Gap[] = [];

/** Takes the answer, or what came instead. */
type Settle = (seen: string) => void;

/** A query is sent now. @returns records it once, whichever comes first: the answer, a failure, the time to give up */
function begin(kind: Kind, expected: string, onSettled = (): void => undefined): Settle {
  const sentMs = nowMs();
  let isSettled = false;
  const settle = (seen: string): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    const fault = seen === expected ? null : seen;
    samples.push({ kind, sentMs, latencyMs: nowMs() - sentMs, fault });
    onSettled();
  };
  const timer = setTimeout(settle, GIVE_UP_MS, 'no answer');
  return settle;
}

/** The queries under way on one socket, by id. */
class Queries {
  private readonly open = new Map<number, Settle>();
  private id = 0;

  /** Gives the query its id. */
  begin(kind: Kind, query: Buffer, expected: string): Buffer {
    this.id = (this.id + 1) & 0xffff;
    const { id } = this;
    query.writeUInt16BE(id, 0);
    const settle = begin(kind, expected, () => this.open.delete(id));
    this.open.set(id, settle);
    return query;
  }

  take(answer: Buffer): void {
    this.open.get(answer.readUInt16BE(0))?.(readAnswer(answer));
  }

  fail(): void {
    for (const settle of this.open.values()) settle('connection closed');
  }
}

function openUdp() {
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
  const queries = new Queries();
  socket.on('message', (answer) => queries.take(answer));
  socket.on('error', () => undefined); // An ICMP error for a query that stays without an answer.
  return { socket, queries };
}

const openTcp = (port: number): Socket =>
  connect({ host: SERVER, port, localAddress: NEIGHBOUR, noDelay: true });
/** The certificate of the suite is its own. */
const openTls = (port: number, ALPNProtocols: string[] = []): TLSSocket =>
  connectTls({ socket: openTcp(port), rejectUnauthorized: false, ALPNProtocols });

const udp = Array.from({ length: UDP_SOCKETS }, openUdp);

function askOverUdp(kind: Kind, n: number, qname: string, expected: string): void {
  const { socket, queries } = udp[n % UDP_SOCKETS];
  socket.send(queries.begin(kind, encodeQuery(0, qname), expected), target.dnsPort, SERVER);
}

/** Over a connection of its own. The time to connect counts. */
function askOnNewConnection(kind: Kind, socket: Socket, query: Buffer): void {
  const settle = begin(kind, UPSTREAM_ADDRESS, () => socket.destroy());
  socket.on('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
  socket.on('close', () => settle('connection closed'));
  readFrames(socket, (answer) => settle(readAnswer(answer)));
  socket.write(frame(query));
}

/** One TLS connection, which is opened again when the resolver closes it. */
let tls: TLSSocket | null = null;
const overTls = new Queries();

function openConnection(): TLSSocket {
  const socket = openTls(target.tlsPort);
  readFrames(socket, (answer) => overTls.take(answer));
  socket.on('error', () => socket.destroy());
  return socket.on('close', () => {
    tls = null;
    overTls.fail();
  });
}

function askOverTls(query: Buffer): void {
  tls ??= openConnection();
  tls.write(frame(overTls.begin('dot', query, UPSTREAM_ADDRESS)));
}

/** One HTTP/2 connection, which is opened again when the resolver closes it. */
let http2: ClientHttp2Session | null = null;

function openSession(): ClientHttp2Session {
  const session = openHttp2(`https://${SERVER}:${target.httpsPort}`, {
    createConnection: () => openTls(target.httpsPort, ['h2']),
  });
  session.on('error', () => session.destroy());
  const forget = (): void => {
    if (http2 === session) http2 = null;
  };
  return session.on('close', forget).on('goaway', forget);
}

function askOverHttps(query: Buffer): void {
  const settle = begin('doh', UPSTREAM_ADDRESS);
  http2 ??= openSession();
  const request = http2.request({
    ':method': 'POST',
    ':path': '/dns-query',
    'content-type': 'application/dns-message',
    'content-length': query.length,
  });
  const chunks: Buffer[] = [];
  let status = 0;
  request.on('response', (headers) => (status = headers[':status'] ?? 0));
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () =>
    settle(status === 200 ? readAnswer(Buffer.concat(chunks)) : `status ${status}`),
  );
  request.on('error', (error) => settle(error.message));
  request.on('close', () => settle('connection closed'));
  request.end(query);
}

/** Local port and number of drops of a line of `/proc/net/udp` (proc_net(5)). */
const SOCKET = /^ *\d+: \w+:(\w+) .* (\d+) *$/gm;

/** Number of datagrams for these local ports that the kernel dropped because nobody read them. */
function countKernelDrops(ports: ReadonlySet<number>): number {
  const sockets = [...readFileSync('/proc/net/udp', 'utf8').matchAll(SOCKET)];
  const own = sockets.filter(([, port]) => ports.has(Number.parseInt(port, 16)));
  return own.reduce((sum, [, , drops]) => sum + Number(drops), 0);
}

const popularName = (n: number): string => `n${n % POPULAR_NAMES}.${POPULAR_ZONE}`;
const popular = (n: number): Buffer => encodeQuery(0, popularName(n));
const ASK: Readonly<Record<Kind, (n: number) => void>> = {
  cached: (n) => askOverUdp('cached', n, popularName(n), UPSTREAM_ADDRESS),
  blocked: (n) => askOverUdp('blocked', n, `b${n % BLOCKED_NAMES}.${BLOCKED_ZONE}`, BLOCK_PAGE),
  fresh: (n) => askOverUdp('fresh', n, `f${n}-${target.seed}.${HEALTHY_ZONE}`, UPSTREAM_ADDRESS),
  tcp: (n) => askOnNewConnection('tcp', openTcp(target.dnsPort), popular(n)),
  tls: (n) => askOnNewConnection('tls', openTls(target.tlsPort), popular(n)),
  dot: (n) => askOverTls(popular(n)),
  doh: (n) => askOverHttps(popular(n)),
};

for (const { socket } of udp) await once(socket.bind(0, NEIGHBOUR), 'listening');
const ports = new Set(udp.map(({ socket }) => socket.address().port));
if (Math.min(...ports) < NEIGHBOUR_PORTS) throw new Error('a source port is outside of the range');
let beforeMs = nowMs();
const kinds = Object.entries(RATES).map(([kind, rate], i, { length }) => ({
  ask: ASK[kind as Kind],
  everyMs: 1_000 / rate,
  // Spread, so that not all kinds ask in the same millisecond.
  nextMs: beforeMs + (1_000 / rate / length) * i,
  asked: 0,
}));

setInterval(() => {
  const timeMs = nowMs();
  if (timeMs - beforeMs > TICK_MS + MAX_LATE_MS) gaps.push({ fromMs: beforeMs, toMs: timeMs });
  beforeMs = timeMs;
  for (const one of kinds) {
    if (timeMs < one.nextMs) continue;
    one.ask(one.asked++);
    // What was not asked in time is left out: the mix stays steady.
    one.nextMs = Math.max(one.nextMs + one.everyMs, timeMs);
  }
}, TICK_MS);
setInterval(() => {
  tellMain({ samples, gaps, unreadAnswers: countKernelDrops(ports) } satisfies Report);
  [samples, gaps] = [[], []];
}, REPORT_MS);
tellMain('ready');
