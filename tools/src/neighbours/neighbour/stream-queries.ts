import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { readAnswer } from '../../deployment/dns-message.js';
import { readFrames, writeFrame } from '../shared/frames.js';
import { nowMs } from '../shared/helper-side.js';
import { NEIGHBOUR, SERVER, type Target } from '../shared/target.js';
import { GIVE_UP_MS, type Recorder, type Kind } from './sample.js';

/** Opens a connection from the address of the neighbour. */
const open = {
  tcp: (port: number): Socket =>
    connectTcp({ host: SERVER, port, localAddress: NEIGHBOUR, noDelay: true }),
  // The certificate of the suite is its own.
  tls: (port: number, protocols: string[] = []): TLSSocket => {
    const socket = connectTls({
      socket: open.tcp(port),
      rejectUnauthorized: false,
      ALPNProtocols: protocols,
    });
    return socket;
  },
};

/** Records a query and its answer once, whichever comes first: the answer, a failure, or the time to give up. */
class Pending {
  private readonly sentMs = nowMs();
  private readonly timer = setTimeout(() => this.settle(null), GIVE_UP_MS);
  private isSettled = false;

  constructor(
    private readonly recorder: Recorder,
    private readonly kind: Kind,
    private readonly expected: string,
    private readonly onSettled: () => void = () => undefined,
  ) {}

  settle(seen: string | null): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.timer);
    this.recorder.record(this.kind, this.sentMs, seen, this.expected);
    this.onSettled();
  }
}

/** One query over a connection of its own, TCP or TLS. The time to connect counts. */
export function askOnNewConnection(
  kind: 'tcp' | 'tls',
  { dnsPort, tlsPort }: Target,
  query: Buffer,
  expected: string,
  recorder: Recorder,
): void {
  const socket = kind === 'tcp' ? open.tcp(dnsPort) : open.tls(tlsPort);
  const pending = new Pending(recorder, kind, expected, () => socket.destroy());
  socket.on('error', (error: NodeJS.ErrnoException) => pending.settle(error.code ?? error.message));
  socket.on('close', () => pending.settle('connection closed'));
  readFrames(socket, (answer) => pending.settle(readAnswer(answer)));
  writeFrame(socket, query);
}

/** Queries over one TLS connection, which is opened again when the resolver closes it. */
export class TlsQueries {
  private socket: TLSSocket | null = null;
  private readonly open = new Map<number, Pending>();
  private id = 0;

  constructor(
    private readonly port: number,
    private readonly recorder: Recorder,
  ) {}

  ask(query: Buffer, expected: string): void {
    this.id = (this.id + 1) & 0xffff;
    const { id } = this;
    query.writeUInt16BE(id, 0);
    this.open.set(id, new Pending(this.recorder, 'dot', expected, () => this.open.delete(id)));
    writeFrame((this.socket ??= this.connect()), query);
  }

  private connect(): TLSSocket {
    const socket = open.tls(this.port);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (this.socket === socket) this.socket = null;
      for (const pending of this.open.values()) pending.settle('connection closed');
    });
    readFrames(socket, (answer) => {
      this.open.get(answer.readUInt16BE(0))?.settle(readAnswer(answer));
    });
    return socket;
  }
}

/** Requests over one HTTP/2 connection, which is opened again when the resolver closes it. */
export class HttpsQueries {
  private session: ClientHttp2Session | null = null;

  constructor(
    private readonly port: number,
    private readonly recorder: Recorder,
  ) {}

  ask(query: Buffer, expected: string): void {
    const pending = new Pending(this.recorder, 'doh', expected);
    const session = (this.session ??= this.connect());
    const request = session.request({
      ':method': 'POST',
      ':path': '/dns-query',
      'content-type': 'application/dns-message',
      'content-length': query.length,
    });
    const chunks: Buffer[] = [];
    let status = 0;
    request.on('response', (headers) => (status = headers[':status'] ?? 0));
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      pending.settle(status === 200 ? readAnswer(Buffer.concat(chunks)) : `status ${status}`);
    });
    request.on('error', (error) => pending.settle(error.message));
    request.on('close', () => pending.settle('connection closed'));
    request.end(query);
  }

  private connect(): ClientHttp2Session {
    const session = connectHttp2(`https://${SERVER}:${this.port}`, {
      createConnection: () => open.tls(this.port, ['h2']),
    });
    session.on('error', () => session.destroy());
    const forget = (): void => {
      if (this.session === session) this.session = null;
    };
    session.on('close', forget).on('goaway', forget);
    return session;
  }
}
