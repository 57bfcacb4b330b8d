import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { frame } from './upstream-server.js';

export interface Server {
  readonly address: string;
  readonly port: number;
}

/** A client of a test gives up only when nothing comes any more: a busy machine may stall for many seconds. */
const PATIENCE_MS = 60_000;

/**
 * Sends one UDP packet. Whoever had this port before may get packets too, which do not count.
 * @returns the first packet that comes back, or null after the timeout
 */
export async function askUdp(
  server: Server,
  packet: Uint8Array,
  timeoutMs = PATIENCE_MS,
  fromPort = 0,
): Promise<Uint8Array | null> {
  const socket = createSocket(server.address.includes(':') ? 'udp6' : 'udp4');
  socket.bind(fromPort);
  try {
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        resolve(null);
      }, timeoutMs);
      socket.on('message', (answer, { port }) => {
        if (port !== server.port) return;
        clearTimeout(timer);
        resolve(answer);
      });
      socket.once('error', reject);
      socket.send(packet, server.port, server.address);
    });
  } finally {
    socket.close();
  }
}

/** A UDP socket of a client with that address, which may send and receive many packets, until the test ends. */
export async function udpClient(address = '127.0.0.1'): Promise<UdpSocket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  onTestFinished(() => void socket.close());
  await new Promise<void>((resolve) => {
    socket.bind(0, address, resolve);
  });
  return socket;
}

/** How `askTcp` asks. */
export interface TcpOptions {
  /** Whether the client closes its end after its last query. */
  readonly halfClose?: boolean;
  /** Opens the connection; by default over TCP. */
  readonly open?: () => Socket;
}

/**
 * Writes the pieces to one TCP connection, one by one.
 * @returns the messages that came back, once `expected` have arrived or the server has closed
 */
export function askTcp(
  server: Server,
  pieces: readonly Uint8Array[],
  expected: number,
  { halfClose = false, open }: TcpOptions = {},
): Promise<Uint8Array[]> {
  return new Promise((resolve, reject) => {
    const socket = open?.() ?? connect({ host: server.address, port: server.port, noDelay: true });
    const messages: Uint8Array[] = [];
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        messages.push(received.subarray(2, end));
        received = received.subarray(end);
      }
      if (messages.length >= expected) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(messages);
    });
    void (async () => {
      for (const piece of pieces) {
        await new Promise<void>((done) => {
          socket.write(piece, () => {
            setTimeout(done, 5);
          });
        });
      }
      if (halfClose) socket.end();
    })();
  });
}

/** One query over TCP. */
export async function askOneTcp(server: Server, packet: Uint8Array): Promise<Uint8Array | null> {
  const [answer] = await askTcp(server, [frame(packet)], 1);
  return answer ?? null;
}
