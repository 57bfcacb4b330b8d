import type { Endpoint } from '@weir/ops';
import { connect, type Socket } from 'node:net';
import type { RandomIds } from './random-ids.js';

const LENGTH_BYTES = 2;
const ID_BYTES = 2;
const EMPTY = Buffer.alloc(0);

/** Cuts what a connection brings into messages: each has its length before it (RFC 1035 §4.2.2). */
export class FrameReader {
  private received: Buffer = EMPTY;

  /** @param onMessage called for each message that is complete. @returns false for a message without an id */
  read(chunk: Buffer, onMessage: (message: Buffer) => void): boolean {
    let rest = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    while (rest.length >= LENGTH_BYTES && rest.length >= LENGTH_BYTES + rest.readUInt16BE(0)) {
      const end = LENGTH_BYTES + rest.readUInt16BE(0);
      const message = rest.subarray(LENGTH_BYTES, end);
      rest = rest.subarray(end);
      if (message.length < ID_BYTES) return false;
      onMessage(message);
    }
    this.received = rest;
    return true;
  }
}

/** @returns a copy of the message with its length before it */
export function frameOf(message: Uint8Array, length: number): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt16BE(length, 0);
  frame.set(message.subarray(0, length), LENGTH_BYTES);
  return frame;
}

/** On so many further connections an open query is sent. A peer that closes one after the other gets no more. */
export const MAX_REPETITIONS = 20;
/** How long an idle connection stays open (RFC 7766 §6.2.3). */
const DEFAULT_IDLE_MS = 10_000;

interface Waiting {
  /** The message with its length prefix. */
  readonly frame: Buffer;
  /** Whether it was sent over a connection that was open already, and is perhaps closing. */
  isReused: boolean;
  repetitions: number;
  readonly finish: (message: Uint8Array | null) => void;
}

/**
 * TCP to one upstream: one connection, opened on demand and kept open for a while, with pipelined queries (RFC 7766
 * §6.2.1).
 */
export class UpstreamTcp {
  /** Connections opened so far. */
  connections = 0;
  private socket: Socket | null = null;
  /** Whether the connection has answered a query. */
  private hasAnswered = false;
  /** Messages received so far. */
  private messages = 0;
  private readonly waiting = new Map<number, Waiting>();

  constructor(
    private readonly endpoint: Endpoint,
    private readonly ids: RandomIds,
    private readonly idleMs = DEFAULT_IDLE_MS,
  ) {}

  /**
   * Sends a query under an id of its own.
   * @param packet the message without its length prefix; copied before this returns
   * @param done called once, after this has returned: with the first message that has the id, or with null after a
   * failure or `timeoutMs`
   */
  ask(packet: Uint8Array, timeoutMs: number, done: (message: Uint8Array | null) => void): void {
    const frame = frameOf(packet, packet.length);
    const id = this.reserveId();
    frame.writeUInt16BE(id, LENGTH_BYTES);
    const messagesBefore = this.messages;
    const timeOut = (): void => {
      if (this.waiting.get(id) !== waiting) return;
      this.end(id, null);
      // Where other queries were answered meanwhile, only this name is at fault. Else the connection may be, and the
      // next query opens another one.
      if (this.messages === messagesBefore) this.socket?.destroy();
    };
    // What has come is read before: after a stall of the process, a query whose answer waits in the socket is not late.
    const timer = setTimeout(() => setImmediate(timeOut), timeoutMs);
    const finish = (message: Uint8Array | null): void => {
      clearTimeout(timer);
      done(message);
    };
    const waiting: Waiting = { frame, isReused: this.socket !== null, repetitions: 0, finish };
    this.waiting.set(id, waiting);
    this.open().write(frame);
  }

  /** All open queries fail. */
  close(): void {
    for (const id of [...this.waiting.keys()]) this.end(id, null);
    this.socket?.destroy();
  }

  private open(): Socket {
    if (this.socket !== null) return this.socket;
    const { address: host, port } = this.endpoint;
    const socket = connect({ host, port, noDelay: true, timeout: this.idleMs });
    this.connections++;
    this.hasAnswered = false;
    this.socket = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      if (!reader.read(chunk, this.onMessage)) socket.destroy();
    });
    socket.on('timeout', () => {
      if (this.waiting.size === 0) socket.destroy();
    });
    // 'close' follows.
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      this.onClose(socket);
    });
    return socket;
  }

  private readonly onMessage = (message: Buffer): void => {
    const id = message.readUInt16BE(0);
    this.messages++;
    if (this.waiting.has(id)) this.hasAnswered = true;
    this.end(id, message);
  };

  /**
   * The peer may close a connection at any time, when it is idle or has brought enough answers. Open queries are sent
   * on a new one (RFC 7766 §6.2.4), `MAX_REPETITIONS` times at most. If a connection closes without any answer, the
   * queries for which it was opened fail.
   */
  private onClose(socket: Socket): void {
    if (this.socket !== socket) return;
    this.socket = null;
    const { hasAnswered } = this;
    const frames: Buffer[] = [];
    for (const [id, waiting] of [...this.waiting]) {
      const mayRepeat = (hasAnswered || waiting.isReused) && waiting.repetitions < MAX_REPETITIONS;
      if (mayRepeat) frames.push(waiting.frame);
      else this.end(id, null);
      waiting.isReused = false;
      waiting.repetitions++;
    }
    // In one piece: there may be thousands, and a connection may answer few.
    if (frames.length > 0) this.open().write(Buffer.concat(frames));
  }

  private end(id: number, message: Uint8Array | null): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    waiting?.finish(message);
  }

  private reserveId(): number {
    let id = this.ids.next();
    while (this.waiting.has(id)) id = this.ids.next();
    return id;
  }
}
