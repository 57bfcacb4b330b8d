import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { Random } from './random.js';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes before this time, by `performance.now`. */
  stalledUntilMs: number;
  isBlackhole: boolean;
}

/** What becomes of a piece of a response. */
type Filter = (chunk: Buffer) => Buffer;
const UNCHANGED: Filter = (chunk) => chunk;

/** A TCP load balancer on loopback that can also delay, cut or silently drop traffic, as a broken network does. */
export class TcpProxy {
  /** How long each piece of a response is held up. */
  delayMs = 0;
  private readonly server = createServer((client) => this.link(client));
  private readonly links = new Set<Link>();
  private isBlackhole = false;

  /**
   * @param nextPort the loopback port for the next connection; undefined: the connection is refused.
   * @param filter makes the filter of the responses of one connection
   * @param random picks the connections that are cut, stalled or blackholed
   */
  constructor(
    private readonly nextPort: () => number | undefined,
    private readonly filter: () => Filter = () => UNCHANGED,
    protected readonly random = new Random(1),
  ) {}

  /** @param port default: a free one */
  async listen(port = 0): Promise<void> {
    await once(this.server.listen(port, '127.0.0.1'), 'listening');
  }

  /** Once it listens. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Closes connections. @param share which part of them, from 0 to 1 */
  cut(share = 1): void {
    for (const { client, server } of this.some(share)) {
      client.destroy();
      server.destroy();
    }
  }

  /** Delays everything on some connections. @param share which part of them, from 0 to 1 */
  stall(share: number, durationMs: number): void {
    for (const link of this.some(share)) link.stalledUntilMs = performance.now() + durationMs;
  }

  /** Drops everything on some connections from now on. @param share which part of them, from 0 to 1 */
  blackhole(share: number): void {
    for (const link of this.some(share)) drop(link);
  }

  /** Drops everything on every connection, in both directions. The ends do not learn that the other end closed. */
  startBlackhole(): void {
    this.isBlackhole = true;
    for (const link of this.links) drop(link);
  }

  /** New connections work again. Connections from before or during the blackhole stay broken. */
  stopBlackhole(): void {
    this.isBlackhole = false;
  }

  private some(share: number): Link[] {
    return [...this.links].filter(() => this.random.chance(share));
  }

  private link(client: Socket): void {
    const port = this.nextPort();
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    const link = { client, server, stalledUntilMs: 0, isBlackhole: false };
    this.links.add(link);
    client.pipe(passOn(link)).pipe(server);
    server.pipe(passOn(link, this.filter(), () => this.delayMs)).pipe(client);
    for (const socket of [client, server]) {
      socket.setNoDelay(true).on('error', () => socket.destroy());
      socket.on('close', () => {
        if (!link.isBlackhole) [client, server].forEach((one) => one.destroy());
        if (client.destroyed && server.destroyed) this.links.delete(link);
      });
    }
    if (this.isBlackhole) drop(link);
  }
}

function passOn(link: Link, filter = UNCHANGED, delayMs = () => 0): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      const waitMs = Math.max(delayMs(), link.stalledUntilMs - performance.now());
      const passed = filter(chunk);
      if (waitMs > 0) setTimeout(done, waitMs, null, passed);
      else done(null, passed);
    },
  });
}

function drop(link: Link): void {
  link.isBlackhole = true;
  for (const socket of [link.client, link.server]) socket.unpipe().resume();
}

/** Faults of pub/sub messages. Everything else passes unchanged. */
interface MessageFaults {
  /** Probability that a message is dropped. */
  readonly drop: number;
  /** Probability that a message is delivered twice. */
  readonly duplicate: number;
}

export const NO_MESSAGE_FAULTS: MessageFaults = { drop: 0, duplicate: 0 };

/** A proxy in front of Redis that also drops or duplicates whole pub/sub messages. */
export class RedisProxy extends TcpProxy {
  faults = NO_MESSAGE_FAULTS;

  constructor(redisPort: () => number, random: Random) {
    const filter = (): Filter => {
      const frames = new RespFrames();
      return (chunk) => Buffer.concat(frames.push(chunk).flatMap((frame) => this.deliver(frame)));
    };
    super(redisPort, filter, random);
  }

  private deliver(frame: Buffer): Buffer[] {
    if (!isChannelMessage(frame)) return [frame];
    if (this.random.chance(this.faults.drop)) return [];
    return this.random.chance(this.faults.duplicate) ? [frame, frame] : [frame];
  }
}

const CR = 0x0d;
const LINE_TYPES = '+-:_#,(';
const TEXT_TYPES = '$!=';
const LIST_TYPES = '*~>';
const PAIR_TYPES = '%|';

/** Splits the bytes that Redis sends into whole replies and pushes (RESP2 and RESP3). Chunks may end anywhere. */
export class RespFrames {
  private rest: Buffer = Buffer.alloc(0);

  /** The frames that this chunk completes, in order. */
  push(chunk: Buffer): Buffer[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const frames: Buffer[] = [];
    let offset = 0;
    for (let end = frameEnd(this.rest, 0); end > 0; end = frameEnd(this.rest, offset)) {
      frames.push(this.rest.subarray(offset, end));
      offset = end;
    }
    this.rest = this.rest.subarray(offset);
    return frames;
  }
}

/** Whether the frame is a pub/sub message: a RESP3 push or a RESP2 array. */
export function isChannelMessage(frame: Buffer): boolean {
  return /^[>*]3\r\n\$7\r\nmessage\r\n/.test(frame.toString('latin1', 0, 24));
}

/** Offset of the end of the frame that begins at `offset`; −1 if the frame is incomplete. */
function frameEnd(bytes: Buffer, offset: number): number {
  const cr = bytes.indexOf(CR, offset);
  if (cr < 0 || cr + 1 >= bytes.length) return -1;
  const type = String.fromCharCode(bytes[offset]);
  const lineEnd = cr + 2;
  if (LINE_TYPES.includes(type)) return lineEnd;
  const count = Number(bytes.toString('latin1', offset + 1, cr));
  if (!Number.isInteger(count)) throw new RangeError(`no RESP frame begins with ${type}`);
  if (TEXT_TYPES.includes(type)) {
    const end = count < 0 ? lineEnd : lineEnd + count + 2;
    return end <= bytes.length ? end : -1;
  }
  if (LIST_TYPES.includes(type)) return elementsEnd(bytes, lineEnd, count);
  if (PAIR_TYPES.includes(type)) return elementsEnd(bytes, lineEnd, 2 * count);
  throw new RangeError(`no RESP frame begins with ${type}`);
}

function elementsEnd(bytes: Buffer, offset: number, count: number): number {
  let end = offset;
  for (let i = 0; i < count && end >= 0; i++) end = frameEnd(bytes, end);
  return end;
}
