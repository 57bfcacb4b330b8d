import type { Random } from './random.js';
import { type Filter, TcpProxy } from './tcp-proxy.js';

/** Faults of pub/sub messages. Everything else passes unchanged. */
export interface MessageFaults {
  /** Probability that a message is dropped. */
  readonly drop: number;
  /** Probability that a message is delivered twice. */
  readonly duplicate: number;
}

const NO_FAULTS: MessageFaults = { drop: 0, duplicate: 0 };

/** A proxy in front of Redis that also drops or duplicates whole pub/sub messages. */
export class RedisProxy extends TcpProxy {
  faults = NO_FAULTS;

  constructor(redisPort: () => number, random: Random) {
    const filter = (): Filter => {
      const frames = new RespFrames();
      return (chunk) => Buffer.concat(frames.push(chunk).flatMap((frame) => this.deliver(frame)));
    };
    super(redisPort, filter, random);
  }

  /** Ends the faults of messages. */
  clearFaults(): void {
    this.faults = NO_FAULTS;
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
  const type = String.fromCharCode(bytes[offset] ?? 0);
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
