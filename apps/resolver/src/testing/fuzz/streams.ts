import { concat, encodeQuery } from '@weir/dns-wire/testing';
import { damage } from '@weir/dns-wire/testing/mutations';
import fc from 'fast-check';
import {
  END_HEADERS,
  END_STREAM,
  FrameType,
  http2Frame,
  POST_HEADERS,
  PREFACE,
  resetRequests,
} from '../http2-frames.js';
import { frame } from '../upstream-server.js';
import { query } from './packets.js';

/** What a client of DNS over TLS or HTTPS sends, and how it ends. */
export interface FuzzedStream {
  readonly to: 'tls' | 'https';
  /** The protocol that TLS agrees on; null: the bytes come in the place of a handshake. */
  readonly protocol: 'dot' | 'h2' | 'http/1.1' | null;
  /** Sent one after the other. */
  readonly pieces: readonly Uint8Array[];
  /** Whether the client closes its end and reads on, or is gone at once. */
  readonly isPolite: boolean;
}

const MAX_FLOOD = 200;
const text = (line: string): Uint8Array => Buffer.from(line, 'latin1');
const base64 = (packet: Uint8Array): string => Buffer.from(packet).toString('base64url');
const junk = fc.uint8Array({ maxLength: 300 });
const valid = fc.constant(encodeQuery('www.blocked.example', 1));
const packet = fc.oneof(valid, query);

/** Frames of DNS over TLS: some with a wrong length. */
const dotFrame = fc.oneof(
  { weight: 4, arbitrary: packet.map((one): Uint8Array => frame(one)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.nat(0xffff), packet)
      .map(([length, one]) => concat([length >>> 8, length & 255], one)),
  },
);
const dotBytes = fc.array(dotFrame, { maxLength: 8 }).map((frames) => concat(...frames));

const http1Head = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'POST', 'PUT', 'PRI', 'G\0T', 'CONNECT', ''),
    path: fc.oneof(
      packet.map((one) => `/dns-query?dns=${base64(one)}`),
      fc.constantFrom('/dns-query', '/', '*', '//', '/dns-query?dns=', `/${'a'.repeat(70_000)}`),
    ),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9', ''),
    headers: fc.array(
      fc.constantFrom(
        'Host: 127.0.0.1',
        'Content-Type: application/dns-message',
        'Content-Length: 33',
        'Content-Length: 0',
        'Content-Length: -1',
        'Content-Length: 99999999999',
        'Transfer-Encoding: chunked',
        'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c',
        'Expect: 100-continue',
        `X-Long: ${'x'.repeat(20_000)}`,
        ' folded',
        'no colon',
      ),
      { maxLength: 5 },
    ),
  })
  .map(({ method, path, version, headers }) =>
    text(`${[`${method} ${path} ${version}`, ...headers].join('\r\n')}\r\n\r\n`),
  );
const chunked = packet.map((one) =>
  concat(text(`${one.length.toString(16)}\r\n`), one, text('\r\n0\r\n\r\n')),
);
const http1Bytes = fc
  .array(fc.tuple(http1Head, fc.oneof(fc.constant(new Uint8Array(0)), packet, chunked, junk)), {
    maxLength: 4,
  })
  .map((requests) => concat(...requests.flat()));

const { DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION } =
  FrameType;

const stream = fc.constantFrom(1, 1, 3, 5, 7, 0, 2, 0x7fff_ffff);
const flags = fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0xff);
const number32 = fc.constantFrom(0, 1, 2, 0x7fff_ffff, 0xffff_ffff).map((value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
});
const setting = fc
  .tuple(fc.constantFrom(1, 2, 3, 4, 5, 6, 99), number32)
  .map(([id, value]) => concat([0, id], value));
const settings = fc.array(setting, { maxLength: 6 }).map((all) => concat(...all));

const validRequest = fc
  .tuple(stream, packet)
  .map(([id, one]) =>
    concat(
      http2Frame(HEADERS, END_HEADERS, id, POST_HEADERS),
      http2Frame(DATA, END_STREAM, id, one),
    ),
  );
const anyFrame = fc.oneof(
  fc
    .tuple(flags, stream, fc.oneof(fc.constant(POST_HEADERS), junk))
    .map(([f, id, block]) => http2Frame(HEADERS, f, id, block)),
  fc.tuple(flags, stream, junk).map(([f, id, data]) => http2Frame(DATA, f, id, data)),
  fc.tuple(flags, settings).map(([f, data]) => http2Frame(SETTINGS, f, 0, data)),
  fc.tuple(stream, number32).map(([id, code]) => http2Frame(RST_STREAM, 0, id, code)),
  fc.tuple(stream, number32).map(([id, size]) => http2Frame(WINDOW_UPDATE, 0, id, size)),
  fc.tuple(flags, stream, junk).map(([f, id, data]) => http2Frame(CONTINUATION, f, id, data)),
  fc
    .tuple(flags, fc.uint8Array({ minLength: 8, maxLength: 8 }))
    .map(([f, data]) => http2Frame(PING, f, 0, data)),
  junk.map((data) => http2Frame(GOAWAY, 0, 0, data)),
  fc
    .tuple(fc.nat(255), flags, stream, junk)
    .map(([type, f, id, data]) => http2Frame(type, f, id, data)),
);
/** The same frame again and again, or requests that are reset at once (CVE-2023-44487). */
const flood = fc
  .tuple(fc.oneof(anyFrame, fc.constant(null)), fc.integer({ min: 2, max: MAX_FLOOD }))
  .map(([one, count]) =>
    one === null ? resetRequests(0, count) : concat(...Array.from({ length: count }, () => one)),
  );
const http2Bytes = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: validRequest },
      { weight: 4, arbitrary: anyFrame },
      { weight: 1, arbitrary: flood },
    ),
    { maxLength: 8 },
  )
  .map((frames) => concat(PREFACE, ...frames));

/** The beginning of a ClientHello (RFC 8446 §4.1.2), and what is none. */
const helloBytes = fc
  .tuple(fc.nat(0xffff), junk)
  .map(([length, rest]) =>
    concat([0x16, 3, 1, length >>> 8, length & 255, 1, 0, 1, 0, 3, 3], rest),
  );
const noTls = fc.oneof(helloBytes, junk, http1Bytes, dotBytes);

const untouched = fc.constant((bytes: Uint8Array) => bytes);
/** Damaged or not, and cut somewhere. */
const inPieces = (bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array[]> =>
  fc
    .tuple(bytes, fc.oneof(untouched, damage), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([whole, change, cut]) => {
      const changed = change(whole);
      const at = Math.floor(changed.length * cut);
      return [changed.subarray(0, at), changed.subarray(at)];
    });
const streamOf = (
  to: FuzzedStream['to'],
  protocol: FuzzedStream['protocol'],
  bytes: fc.Arbitrary<Uint8Array>,
): fc.Arbitrary<FuzzedStream> =>
  fc
    .tuple(inPieces(bytes), fc.boolean())
    .map(([pieces, isPolite]) => ({ to, protocol, pieces, isPolite }));

const anyStream = fc.oneof(
  { weight: 3, arbitrary: streamOf('tls', 'dot', fc.oneof(dotBytes, dotBytes, junk)) },
  { weight: 3, arbitrary: streamOf('https', 'http/1.1', fc.oneof(http1Bytes, http1Bytes, junk)) },
  { weight: 4, arbitrary: streamOf('https', 'h2', http2Bytes) },
  { weight: 1, arbitrary: streamOf('https', 'h2', fc.oneof(junk, http1Bytes)) },
  { weight: 1, arbitrary: streamOf('tls', null, noTls) },
  { weight: 1, arbitrary: streamOf('https', null, noTls) },
);

/** Streams of clients, valid and damaged; the same for the same seed. */
export function fuzzedStreams(seed: number, count: number): FuzzedStream[] {
  return fc.sample(anyStream, { seed, numRuns: count });
}
