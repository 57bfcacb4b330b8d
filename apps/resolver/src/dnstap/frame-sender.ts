import type { Logger } from '@weir/ops';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import type { SentConfiguration } from '../configuration.js';
import { LogCount, type LogCounts } from '../metrics/log-counts.js';

/*
 * Frame Streams, the transport of dnstap. A data frame is its length (4 bytes) and its bytes. A control frame begins
 * with a length of 0, then has its own length, its type and fields, each with a type, a length and a value. All
 * numbers have 4 bytes, most significant first.
 */

/** The content type of dnstap. */
export const DNSTAP_CONTENT = 'protobuf:dnstap.Dnstap';

export const Control = { accept: 1, start: 2, stop: 3, ready: 4, finish: 5 } as const;
export type Control = (typeof Control)[keyof typeof Control];

const CONTENT_TYPE_FIELD = 1;
/** Longest control frame that is accepted, in bytes after its length. */
const MAX_CONTROL_BYTES = 512;

interface ControlFrame {
  readonly type: number;
  readonly contentTypes: readonly string[];
  /** Number of bytes that it took. */
  readonly size: number;
}

/** The peer does not speak Frame Streams. */
class FrameStreamError extends Error {
  override readonly name = 'FrameStreamError';
}

export function writeControlFrame(type: Control, contentType?: string): Buffer {
  const value = Buffer.from(contentType ?? '', 'latin1');
  const field = contentType === undefined ? [] : [CONTENT_TYPE_FIELD, value.length];
  const numbers = [type, ...field];
  const length = numbers.length * 4 + value.length;
  const frame = Buffer.alloc(8 + length);
  for (const [i, number] of [0, length, ...numbers].entries()) frame.writeUInt32BE(number, 4 * i);
  value.copy(frame, frame.length - value.length);
  return frame;
}

/**
 * Reads the control frame at the start of what was received.
 * @returns null while it is incomplete
 * @throws FrameStreamError for anything else
 */
export function readControlFrame(received: Buffer): ControlFrame | null {
  if (received.length >= 4 && received.readUInt32BE(0) !== 0) {
    throw new FrameStreamError('a control frame was expected');
  }
  if (received.length < 8) return null;
  const length = received.readUInt32BE(4);
  if (length < 4 || length > MAX_CONTROL_BYTES) throw new FrameStreamError('a bad control frame');
  const size = 8 + length;
  if (received.length < size) return null;
  const contentTypes: string[] = [];
  let at = 12;
  while (at + 8 <= size) {
    const end = at + 8 + received.readUInt32BE(at + 4);
    if (end > size) throw new FrameStreamError('a bad field in a control frame');
    if (received.readUInt32BE(at) === CONTENT_TYPE_FIELD) {
      contentTypes.push(received.toString('latin1', at + 8, end));
    }
    at = end;
  }
  return { type: received.readUInt32BE(8), contentTypes, size };
}

export interface FrameSenderOptions {
  readonly receiver: NetConnectOpts;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly counts: LogCounts;
  /** Maximum number of bytes that wait to be sent. */
  readonly capacityBytes?: number;
  /** Time before the second attempt to connect. It doubles with each attempt, up to 30 s. */
  readonly retryMs?: number;
}

const DEFAULT_CAPACITY_BYTES = 1024 * 1024;
const DEFAULT_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** After a connection that lasted longer, the time before the next attempt begins anew. */
const STABLE_MS = 5_000;
/** Time limits for the connection and the handshake, and for the farewell. */
const HANDSHAKE_MS = 5_000;
const FINISH_MS = 1_000;
/** Frames are collected in pieces of this size. A longer frame gets a piece of its own. */
const PIECE_BYTES = 64 * 1024;

/**
 * Sends frames to one receiver over a bidirectional Frame Stream. Connects by itself, again and again. A frame that
 * finds no connection, or too many bytes before it, is lost and counted; nobody waits.
 */
export class FrameSender {
  private socket: Socket | null = null;
  private isStarted = false;
  private isClosed = false;
  private startedMs = 0;
  private failures = 0;
  private received = Buffer.alloc(0);
  private retryTimer: NodeJS.Timeout | undefined;
  private piece = Buffer.alloc(0);
  private pieceBytes = 0;
  private flushing: NodeJS.Immediate | undefined;

  constructor(private readonly options: FrameSenderOptions) {}

  /** Sends the first `length` bytes of `frame`, which are copied. */
  send(frame: Uint8Array, length: number): void {
    const capacityBytes = this.options.capacityBytes ?? DEFAULT_CAPACITY_BYTES;
    const waitingBytes = (this.socket?.writableLength ?? 0) + this.pieceBytes;
    const size = 4 + length;
    if (!this.isStarted || waitingBytes + size > capacityBytes) {
      this.options.counts.count(LogCount.lostFrames);
      return;
    }
    this.options.counts.count(LogCount.sentFrames);
    if (this.pieceBytes + size > this.piece.length) {
      this.flush();
      this.piece = Buffer.allocUnsafe(Math.max(PIECE_BYTES, size));
    }
    this.piece.writeUInt32BE(length, this.pieceBytes);
    this.piece.set(frame.subarray(0, length), this.pieceBytes + 4);
    this.pieceBytes += size;
    this.flushing ??= setImmediate(() => this.flush());
  }

  /** Sends what waits, says goodbye and closes. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retryTimer);
    const { socket } = this;
    if (socket === null) return;
    this.flush();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    if (this.isStarted) {
      this.end();
      socket.write(writeControlFrame(Control.stop));
    } else {
      socket.destroy();
    }
    const deadline = setTimeout(() => socket.destroy(), FINISH_MS);
    await closed;
    clearTimeout(deadline);
  }

  private flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    if (this.pieceBytes === 0) return;
    this.socket?.write(this.piece.subarray(0, this.pieceBytes));
    // The socket may still need the memory.
    this.piece = this.piece.subarray(this.pieceBytes);
    this.pieceBytes = 0;
  }

  /** No more frames are sent through the connection. */
  private end(): void {
    if (!this.isStarted) return;
    this.isStarted = false;
    this.options.counts.count(LogCount.connections, -1);
  }

  open(): void {
    const socket = connect(this.options.receiver);
    this.socket = socket;
    this.received = Buffer.alloc(0);
    let why = 'it closed the connection';
    socket.setTimeout(HANDSHAKE_MS, () => socket.destroy(new Error('no answer')));
    socket.on('connect', () => socket.write(writeControlFrame(Control.ready, DNSTAP_CONTENT)));
    socket.on('data', (data: Buffer) => this.onData(socket, data));
    // The receiver reads no more, so nothing waits for it.
    socket.on('end', () => socket.destroy());
    socket.on('error', (error) => {
      why = error.message;
    });
    socket.on('close', () => this.onClose(why));
  }

  private onData(socket: Socket, data: Buffer): void {
    this.received = Buffer.concat([this.received, data]);
    try {
      for (;;) {
        const frame = readControlFrame(this.received);
        if (frame === null) return;
        this.received = this.received.subarray(frame.size);
        this.onControl(socket, frame.type, frame.contentTypes);
      }
    } catch (error) {
      if (!(error instanceof FrameStreamError)) throw error;
      socket.destroy(error);
    }
  }

  private onControl(socket: Socket, type: number, contentTypes: readonly string[]): void {
    if (type === Control.finish) {
      socket.destroy();
      return;
    }
    if (type !== Control.accept || this.isStarted || this.isClosed) {
      throw new FrameStreamError('an unexpected control frame');
    }
    if (contentTypes.length > 0 && !contentTypes.includes(DNSTAP_CONTENT)) {
      throw new FrameStreamError(`it does not accept ${DNSTAP_CONTENT}`);
    }
    socket.setTimeout(0);
    socket.write(writeControlFrame(Control.start, DNSTAP_CONTENT));
    this.isStarted = true;
    this.options.counts.count(LogCount.connections);
    this.startedMs = performance.now();
    this.options.log.info('the dnstap receiver is connected');
  }

  private onClose(why: string): void {
    const wasStarted = this.isStarted;
    this.socket = null;
    this.end();
    this.pieceBytes = 0;
    if (this.isClosed) return;
    // One that accepts and closes at once is asked less and less often, too.
    if (wasStarted && performance.now() - this.startedMs > STABLE_MS) this.failures = 0;
    if (wasStarted || this.failures === 0) {
      this.options.log.warn(
        { reason: why },
        'the dnstap receiver is out of reach; frames are lost',
      );
    }
    const retryMs = (this.options.retryMs ?? DEFAULT_RETRY_MS) * 2 ** this.failures++;
    this.retryTimer = setTimeout(() => this.open(), Math.min(retryMs, MAX_RETRY_MS));
  }
}

/** @returns null when dnstap is off */
export function createSender(
  { DNSTAP_ENDPOINT: receiver }: Pick<SentConfiguration, 'DNSTAP_ENDPOINT'>,
  log: FrameSenderOptions['log'],
  counts: LogCounts,
): FrameSender | null {
  return receiver === undefined ? null : new FrameSender({ receiver, log, counts });
}
