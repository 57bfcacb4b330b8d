/** HTTP/2 by frames, for what `node:http2` does not send. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SERVER } from '../shared/target.js';
import type { AttackContext } from './attack.js';

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

export function openSocket({ counts }: AttackContext, port: number, localAddress: string): Socket {
  const socket = connect({ host: SERVER, port, localAddress, noDelay: true });
  socket.on('error', () => {
    counts.add('failed');
    socket.destroy();
  });
  return socket;
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
