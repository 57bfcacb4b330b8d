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

/** A control frame that has been received. */
export interface ControlFrame {
  readonly type: number;
  readonly contentTypes: readonly string[];
  /** Number of bytes that it took. */
  readonly size: number;
}

/** The peer does not speak Frame Streams. */
export class FrameStreamError extends Error {
  override readonly name = 'FrameStreamError';
}

export function writeControlFrame(type: Control, contentType?: string): Buffer {
  const value = Buffer.from(contentType ?? '', 'latin1');
  const field = contentType === undefined ? [] : [CONTENT_TYPE_FIELD, value.length];
  const numbers = [type, ...field];
  const length = numbers.length * 4 + value.length;
  const words = [0, length, ...numbers].map((number) => {
    const word = Buffer.alloc(4);
    word.writeUInt32BE(number);
    return word;
  });
  return Buffer.concat([...words, value]);
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
