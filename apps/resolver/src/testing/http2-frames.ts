/** Frames of an HTTP/2 client, for what `node:http2` does not send. */
import { concat } from '@weir/dns-wire/testing';
import { connect } from 'node:tls';
import { onTestFinished } from 'vitest';

/** RFC 9113 §6. */
export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;
/** Flags. */
export const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4];

const HEAD_BYTES = 9;
const CANCEL = Buffer.from([0, 0, 0, 8]);

/** A frame (RFC 9113 §4.1). */
export function http2Frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array,
): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return concat(head, payload);
}

/** What a client sends first. */
export const PREFACE = concat(
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  http2Frame(FrameType.SETTINGS, 0, 0, new Uint8Array(0)),
);

const literal = (value: string): Uint8Array => concat([value.length], Buffer.from(value));
/** A header block without Huffman coding (RFC 7541 §6.2.2), as `POST /dns-query`. */
export const POST_HEADERS = concat(
  [0x83, 0x87, 0x04],
  literal('/dns-query'),
  [0x01],
  literal('127.0.0.1'),
  [0x0f, 0x10],
  literal('application/dns-message'),
);

/** The same as `GET`. */
export const getHeaders = (path: string): Uint8Array =>
  concat([0x82, 0x87, 0x04], literal(path), [0x01], literal('127.0.0.1'));

/** Requests that are reset at once (CVE-2023-44487). @param before the requests that the connection had before */
export function resetRequests(before: number, count: number, headers = POST_HEADERS): Uint8Array {
  const { HEADERS, RST_STREAM } = FrameType;
  const flags = END_HEADERS | (headers === POST_HEADERS ? 0 : END_STREAM);
  const ids = Array.from({ length: count }, (_, i) => 2 * (before + i) + 1);
  return concat(
    ...ids.flatMap((id) => [
      http2Frame(HEADERS, flags, id, headers),
      http2Frame(RST_STREAM, 0, id, CANCEL),
    ]),
  );
}

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** The complete frames of what a connection has received. */
export function readFrames(received: Buffer): ReceivedFrame[] {
  const frames = [];
  for (let at = 0; at + HEAD_BYTES <= received.length;) {
    const end = at + HEAD_BYTES + received.readUIntBE(at, 3);
    if (end > received.length) break;
    const stream = received.readUInt32BE(at + 5);
    const payload = received.subarray(at + HEAD_BYTES, end);
    frames.push({ type: received[at + 3], flags: received[at + 4], stream, payload });
    at = end;
  }
  return frames;
}

/** Connects a client that sends bytes as they are, behind the preface. It is closed when the test has finished. */
export async function openFrameClient(
  port: number,
  protocol: 'h2' | 'http/1.1' = 'h2',
  { preface = PREFACE } = {},
) {
  const options = { host: '127.0.0.1', port, rejectUnauthorized: false, allowHalfOpen: true };
  const socket = connect({ ...options, ALPNProtocols: [protocol] });
  onTestFinished(() => void socket.destroy());
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  socket.on('end', () => socket.end());
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  if (protocol === 'h2') socket.write(preface);
  return {
    send: (bytes: Uint8Array | string) => void socket.write(bytes),
    /** Sends no more, and reads on. */
    end: () => new Promise<void>((resolve) => socket.end(resolve)),
    allFrames: () => readFrames(received),
    frames: (type: number) => readFrames(received).filter((one) => one.type === type),
    closed: new Promise((resolve) => socket.once('close', resolve)),
  };
}
