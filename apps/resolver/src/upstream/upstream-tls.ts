import type { Endpoint, TlsPeer } from '@weir/ops';
import { publicKeyPin } from '@weir/ops/public-key-pin';
import { connect, type SecureContext, type TLSSocket, type ConnectionOptions } from 'node:tls';
import { FrameReader, frameOf, MAX_REPETITIONS } from './upstream-tcp.js';
import type { InFlight, QuerySocket, QuerySocketEvents, QuerySockets } from './in-flight.js';
import type { RandomIds } from './random-ids.js';

/** The upstream has not proven that it is the one that was configured. */
class PinFault extends Error {
  readonly code = 'PIN_MISMATCH';
}

/** The options by which Node.js checks a name. A pin takes the place of all that: see `pinFault`. */
function checkOptions(peer: TlsPeer, secureContext?: SecureContext): ConnectionOptions {
  const check =
    'name' in peer
      ? { servername: peer.name, rejectUnauthorized: true }
      : { rejectUnauthorized: false };
  return { ...check, ...(secureContext && { secureContext }) };
}

/** @returns what is wrong with the public key, null for a peer with a name, which is checked already */
function pinFault(socket: TLSSocket, peer: TlsPeer): Error | null {
  if ('name' in peer) return null;
  const pin = publicKeyPin(socket);
  return pin === peer.pin ? null : new PinFault(`the pin of its public key is ${pin}`);
}

/** Whether TLS failed, and not the network: the certificate is not accepted, or there is no common ground. */
function isTlsFault(error: Error, socket: TLSSocket, peer: TlsPeer): boolean {
  if (error instanceof PinFault) return true;
  const { code } = error as NodeJS.ErrnoException;
  // Node.js sets it to null while all is well, whatever its types say. For a pin it says nothing.
  const hasBadCertificate = 'name' in peer && Boolean(socket.authorizationError as unknown);
  return hasBadCertificate || code?.startsWith('ERR_SSL_') === true;
}

const ID_AT = 2;
/** A connection on which nothing comes for so long after a query is dead. */
const SILENCE_MS = 2_000;
/** Delay after a connection that has brought no answer; doubled each time, up to the longest. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** With so much that the upstream has not read, it gets no more queries. */
const MAX_UNSENT_BYTES = 1024 * 1024;

interface Waiting {
  readonly entry: InFlight;
  frame: Buffer | null;
  isSent: boolean;
  repetitions: number;
}

export interface UpstreamTlsOptions {
  /** Index of the upstream. */
  readonly upstream: number;
  readonly endpoint: Endpoint;
  readonly peer: TlsPeer;
  readonly secureContext: SecureContext | undefined;
  readonly ids: RandomIds;
  readonly events: QuerySocketEvents;
  readonly nowMs: () => number;
  /** The upstream has failed the check of its certificate, or TLS has failed otherwise. */
  readonly onFault: (error: Error) => void;
}

/**
 * DNS over TLS to one upstream (RFC 7858): one connection, kept open, with pipelined queries and answers in any order
 * (RFC 7766). Nothing is sent before the upstream has proven who it is. Open queries of a connection that closes after
 * an answer to one of them go over the next one, `MAX_REPETITIONS` times at most.
 */
export class UpstreamTls implements QuerySocket, QuerySockets {
  readonly upstream: number;
  wrongIds = 0;
  /** Connections opened so far. */
  connections = 0;
  private readonly waiting = new Map<number, Waiting>();
  private socket: TLSSocket | null = null;
  private isTrusted = false;
  /** Whether the connection has brought an answer that was of use: its query is open no more, or is asked anew. */
  private hasAnswered = false;
  /** When the first query after the last answer was sent. */
  private silentSinceMs = Infinity;
  private delayMs = FIRST_DELAY_MS;
  private nextConnectMs = -Infinity;
  private isClosed = false;

  constructor(private readonly options: UpstreamTlsOptions) {
    this.upstream = options.upstream;
  }

  /** The first query opens the connection. */
  open(): void {
    return;
  }

  choose(nowMs: number): QuerySocket | null {
    if (this.isClosed) return null;
    if (this.socket === null) return nowMs < this.nextConnectMs ? null : this;
    return this.socket.writableLength > MAX_UNSENT_BYTES ? null : this;
  }

  /** Nobody else can send on the connection. */
  abandon(): void {
    return;
  }

  /** A connection that has ended is opened again. */
  wear(): void {
    return;
  }

  maintain(nowMs: number): void {
    if (nowMs - this.silentSinceMs >= SILENCE_MS) this.socket?.destroy();
  }

  close(): void {
    this.isClosed = true;
    this.waiting.clear();
    this.socket?.destroy();
  }

  reserve(entry: InFlight): number {
    let id = this.options.ids.next();
    while (this.waiting.has(id)) id = this.options.ids.next();
    this.waiting.set(id, { entry, frame: null, isSent: false, repetitions: 0 });
    return id;
  }

  forget(id: number): void {
    this.waiting.delete(id);
  }

  /** Queries that wait for an answer. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  find(id: number): InFlight | undefined {
    return this.waiting.get(id)?.entry;
  }

  /** Nobody guesses ids over TLS: an answer to no open query is late. */
  hasUsed(): boolean {
    return true;
  }

  waitingEntries(): Set<InFlight> {
    return new Set(Array.from(this.waiting.values(), ({ entry }) => entry));
  }

  send(packet: Uint8Array, length: number): void {
    const frame = frameOf(packet, length);
    const waiting = this.waiting.get(frame.readUInt16BE(ID_AT));
    if (waiting === undefined) return;
    waiting.frame = frame;
    waiting.isSent = false;
    if (this.silentSinceMs === Infinity) this.silentSinceMs = this.options.nowMs();
    this.socket ??= this.connect();
    if (this.isTrusted) this.write(this.socket, waiting);
  }

  private write(socket: TLSSocket, waiting: Waiting): void {
    if (waiting.frame === null || waiting.isSent) return;
    waiting.isSent = true;
    socket.write(waiting.frame);
  }

  private connect(): TLSSocket {
    const { endpoint, peer, secureContext } = this.options;
    const { address: host, port } = endpoint;
    const socket = connect({ host, port, ...checkOptions(peer, secureContext) });
    const reader = new FrameReader();
    this.connections++;
    this.hasAnswered = false;
    socket.setNoDelay(true);
    socket.on('secureConnect', () => {
      const fault = pinFault(socket, peer);
      if (fault === null) this.onTrusted(socket);
      else socket.destroy(fault);
    });
    socket.on('data', (chunk: Buffer) => {
      // What comes before the check, or after the end, does not count.
      if (this.socket !== socket || !this.isTrusted) return;
      if (!reader.read(chunk, this.onMessage)) socket.destroy();
    });
    // 'close' follows.
    socket.on('error', (error) => {
      if (isTlsFault(error, socket, peer)) this.options.onFault(error);
      socket.destroy();
    });
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      if (!this.isClosed) this.onClose();
    });
    return socket;
  }

  private onTrusted(socket: TLSSocket): void {
    this.isTrusted = true;
    // In one piece: there may be thousands, and a connection may answer few.
    socket.cork();
    for (const waiting of this.waiting.values()) this.write(socket, waiting);
    socket.uncork();
  }

  private readonly onMessage = (message: Buffer): void => {
    const id = message.readUInt16BE(0);
    const frame = this.waiting.get(id)?.frame ?? null;
    this.silentSinceMs = Infinity;
    this.options.events.onPacket(this, message, message.length);
    if (frame === null || this.waiting.get(id)?.frame === frame) return;
    this.hasAnswered = true;
    this.delayMs = FIRST_DELAY_MS;
  };

  private onClose(): void {
    this.socket = null;
    this.isTrusted = false;
    this.silentSinceMs = Infinity;
    if (this.hasAnswered) {
      this.repeat();
      return;
    }
    this.nextConnectMs = this.options.nowMs() + this.delayMs;
    this.delayMs = Math.min(this.delayMs * 2, LONGEST_DELAY_MS);
    this.options.events.onUnreachable(this);
  }

  /**
   * The upstream may close a connection at any time, when it is idle or has brought enough answers (RFC 7766 §6.2.4). A
   * query that it does not answer ends at its timeout.
   */
  private repeat(): void {
    for (const waiting of this.waiting.values()) {
      if (waiting.repetitions++ >= MAX_REPETITIONS) continue;
      waiting.isSent = false;
      if (this.silentSinceMs === Infinity) this.silentSinceMs = this.options.nowMs();
      this.socket ??= this.connect();
    }
  }
}
