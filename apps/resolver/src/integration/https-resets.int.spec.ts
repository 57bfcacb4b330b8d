import { concat, encodeQuery } from '@weir/dns-wire/testing';
import { policyOf } from '@weir/policy-feed/testing';
import { connect } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  FrameType,
  http2Frame,
  POST_HEADERS,
  PREFACE,
  readFrames,
  resetRequests,
} from '../testing/http2-frames.js';
import { startService, useCertificate } from '../testing/service.js';

const { CONTINUATION, DATA, GOAWAY, HEADERS, PING, RST_STREAM } = FrameType;
const certificate = useCertificate();

/** A client of HTTP/2 that sends its frames as they are: `node:http2` does not send a request that is reset at once. */
async function connectClient() {
  const configuration = { DNS_HTTPS_PORT: 0, ...certificate };
  const { httpsPort: port } = await startService(configuration, { source: { policy: policyOf() } });
  const host = '127.0.0.1';
  const socket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  onTestFinished(() => void socket.destroy());
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  socket.on('error', () => undefined);
  socket.write(PREFACE);
  return {
    send: (bytes: Uint8Array) => void socket.write(bytes),
    frames: (type: number) => readFrames(received).filter((one) => one.type === type),
    closed: new Promise((resolve) => socket.once('close', resolve)),
  };
}

/** The server handles frames in order: the answer to a PING says that it has handled all before it. */
const PING_FRAME = http2Frame(PING, 0, 0, new Uint8Array(8));

it('ends a session that resets more than a hundred requests at once', async () => {
  const client = await connectClient();
  client.send(resetRequests(0, 200));
  await client.closed;
  expect(client.frames(GOAWAY)).not.toEqual([]);
});

it('keeps a session that cancels sixty requests at once, and answers its next query', async () => {
  const client = await connectClient();
  client.send(concat(resetRequests(0, 60), PING_FRAME));
  await expect.poll(() => client.frames(PING)).toMatchObject([{ flags: ACK }]);
  expect(client.frames(GOAWAY)).toEqual([]);
  const stream = 2 * 60 + 1;
  const query = encodeQuery('nothing.invalid', 1);
  client.send(
    concat(
      http2Frame(HEADERS, END_HEADERS, stream, POST_HEADERS),
      http2Frame(DATA, END_STREAM, stream, query),
    ),
  );
  await expect.poll(() => client.frames(DATA)).toMatchObject([{ stream, flags: END_STREAM }]);
});

it.each([
  ['16 KB', new Uint8Array(16_384).fill(0x82)],
  ['no bytes', new Uint8Array(0)],
])('ends a session whose header block does not end, in frames of %s', async (_what, payload) => {
  const client = await connectClient();
  client.send(http2Frame(HEADERS, 0, 1, POST_HEADERS));
  for (let i = 0; i < 500; i++) client.send(http2Frame(CONTINUATION, 0, 1, payload));
  await client.closed;
  expect(client.frames(DATA)).toEqual([]);
});

it('resets a request whose few bytes are 46 MB of headers by reference', async () => {
  const client = await connectClient();
  const name = Buffer.from('x-large');
  // A literal that enters the table of the connection (RFC 7541 §6.2.1), then its index, 12,000 times.
  const large = concat([0x40, name.length], name, [0x7f, 0xbd, 0x1d], Buffer.alloc(3_900, 'a'));
  const bomb = concat(POST_HEADERS, large, new Uint8Array(12_000).fill(0xbe));
  client.send(http2Frame(HEADERS, END_HEADERS, 1, bomb));
  client.send(PING_FRAME);
  await expect
    .poll(() => [...client.frames(RST_STREAM), ...client.frames(GOAWAY)].length)
    .toBeGreaterThan(0);
  expect(client.frames(DATA)).toEqual([]);
});
