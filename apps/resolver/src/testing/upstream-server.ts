import { decodeMessage, type DecodedMessage } from '@weir/dns-wire/testing';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket as Connection } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from './authority.js';

export interface AskedQuery {
  readonly transport: 'udp' | 'tcp' | 'tls';
  readonly bytes: Uint8Array;
  readonly message: DecodedMessage;
  /** Where a UDP query came from. */
  readonly from?: RemoteInfo;
}

/** What an upstream does with a query: it sends one packet, several packets, or nothing (null). */
export type Answerer = (query: AskedQuery) => Answered | Promise<Answered>;
type Answered = Uint8Array | readonly Uint8Array[] | null;

export interface ServerOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Then it speaks TLS over TCP; UDP stays as it is. */
  readonly identity?: Identity;
}

/** A real upstream on a loopback port, UDP and TCP or TLS. The test decides its answers byte by byte. */
export class UpstreamServer {
  /** All received queries except for probes, in order. */
  readonly asked: AskedQuery[] = [];
  /** The queries by which a resolver finds out whether this upstream is up: those for the root. */
  readonly probes: AskedQuery[] = [];
  /** The answer to a probe. Default: an empty one. */
  answerProbe: Answerer = ({ bytes }) => bytes.with(2, 0x81);
  readonly connections = new Set<Connection>();
  /** Total number of TCP connections. */
  connectionCount = 0;
  /** It answers so many queries of a new connection, and closes it. */
  queriesPerConnection = Infinity;
  private stopped = false;

  private constructor(
    readonly endpoint: { readonly address: string; readonly port: number },
    private readonly udp: Socket,
    private readonly tcp: Server,
    public answer: Answerer,
  ) {}

  static async start(
    answer: Answerer,
    address = '127.0.0.1',
    options: ServerOptions = {},
  ): Promise<UpstreamServer> {
    const { udp, tcp, port } = await listenBoth(address, options);
    const transport = options.identity === undefined ? 'tcp' : 'tls';
    const server = new UpstreamServer({ address, port }, udp, tcp, answer);
    udp.on('message', (bytes, from) => {
      void server.take({ transport: 'udp', bytes, from }, (packet) => {
        server.sendTo(packet, from);
      });
    });
    const event = transport === 'tcp' ? 'connection' : 'secureConnection';
    tcp.on(event, (connection: Connection) => {
      server.serve(connection, transport);
    });
    return server;
  }

  /** Answers nothing any more, not even probes. */
  fallSilent(): void {
    this.answer = () => null;
    this.answerProbe = () => null;
  }

  /** Sends a packet from this server's own address and port, unless it was stopped. */
  sendTo(packet: Uint8Array, to: RemoteInfo): void {
    if (!this.stopped) this.udp.send(packet, to.port, to.address);
  }

  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    for (const connection of this.connections) connection.destroy();
    await Promise.all([
      new Promise<void>((resolve) => this.udp.close(resolve)),
      new Promise((resolve) => this.tcp.close(resolve)),
    ]);
  }

  private async take(
    query: Omit<AskedQuery, 'message'>,
    send: (packet: Uint8Array) => void,
  ): Promise<void> {
    const message = decodeIfValid(query.bytes);
    if (message === null) return;
    const asked = { ...query, bytes: Uint8Array.from(query.bytes), message };
    const isProbe = asked.message.questions[0]?.qname === '.';
    (isProbe ? this.probes : this.asked).push(asked);
    const answer = await (isProbe ? this.answerProbe(asked) : this.answer(asked));
    const packets = answer === null ? [] : answer instanceof Uint8Array ? [answer] : answer;
    packets.forEach(send);
  }

  private serve(connection: Connection, transport: 'tcp' | 'tls'): void {
    this.connections.add(connection);
    this.connectionCount++;
    connection.on('close', () => this.connections.delete(connection));
    connection.on('error', () => connection.destroy());
    let received: Buffer = Buffer.alloc(0);
    let left = this.queriesPerConnection;
    connection.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (left > 0 && received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const bytes = received.subarray(2, end);
        received = received.subarray(end);
        const isLast = --left === 0;
        void this.take({ transport, bytes }, (packet) => connection.write(frame(packet))).then(
          () => isLast && connection.end(),
        );
      }
    });
  }
}

/** Null: it is no DNS message, such as what a client of another test sends to a port that its own server had. */
function decodeIfValid(bytes: Uint8Array): DecodedMessage | null {
  try {
    return decodeMessage(bytes);
  } catch {
    return null;
  }
}

/** UDP and TCP on the same free port. A port that is free for one may be in use for the other. */
async function listenBoth(
  address: string,
  options: ServerOptions,
): Promise<{ udp: Socket; tcp: Server; port: number }> {
  const { identity } = options;
  const tcp =
    identity === undefined
      ? createServer()
      : createTlsServer({
          cert: readFileSync(identity.certFile),
          key: readFileSync(identity.keyFile),
        });
  await new Promise<void>((resolve) => tcp.listen(options.port ?? 0, address, resolve));
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const isBound = await new Promise<boolean>((resolve) => {
    udp.once('error', () => {
      resolve(false);
    });
    udp.bind(port, address, () => {
      resolve(true);
    });
  });
  if (isBound) return { udp, tcp, port };
  tcp.close();
  return listenBoth(address, options);
}

/** A message with its length prefix (RFC 1035 §4.2.2). */
export function frame(message: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}
