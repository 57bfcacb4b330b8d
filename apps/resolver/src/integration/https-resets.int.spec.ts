import { concat, encodeQuery } from '@weir/dns-wire/testing';
import { loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { describe, expect, it, vi } from 'vitest';
import { HttpsConnection } from '../listeners/https/https-connection.js';
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  FrameType,
  getHeaders,
  http2Frame,
  openFrameClient,
  POST_HEADERS,
  resetRequests,
} from '../testing/http2-frames.js';
import { startHttps } from '../testing/listeners.js';
import { startService, useCertificate } from '../testing/service.js';

const { CONTINUATION, DATA, GOAWAY, HEADERS, PING, RST_STREAM } = FrameType;
const certificate = useCertificate();
const LOCAL_NAME = `/dns-query?dns=${Buffer.from(encodeQuery('localhost', 1)).toString('base64url')}`;

async function connectClient() {
  const configuration = { DNS_HTTPS_PORT: 0, ...certificate };
  const policy = policyOf(profile(1), loopback(1));
  const { httpsPort: port = 0 } = await startService(configuration, { source: { policy } });
  return openFrameClient(port, 'h2');
}

/** The server handles frames in order: the answer to a PING says that it has handled all before it. */
const PING_FRAME = http2Frame(PING, 0, 0, new Uint8Array(8));

it('ends a session that resets more than a hundred requests at once', async () => {
  const client = await connectClient();
  client.send(resetRequests(0, 500));
  await client.closed;
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

describe('of requests without use that come at once, few are handled:', () => {
  const CONNECTIONS = 16;
  /** So many that a machine which stalls for seconds, meanwhile allowing more, still counts too many. */
  const REQUESTS = 500;
  const reset = (headers: Uint8Array) => resetRequests(0, REQUESTS, headers);

  it.each([
    ['reset before their body', 'h2', reset(POST_HEADERS)],
    ['reset when they were answered', 'h2', reset(getHeaders(LOCAL_NAME))],
    ['refused and reset', 'h2', reset(getHeaders('/none'))],
    ['refused', 'http/1.1', 'GET /none HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(REQUESTS)],
    [
      'refused, with an expectation',
      'http/1.1',
      'GET /none HTTP/1.1\r\nHost: a\r\nExpect: b\r\n\r\n'.repeat(REQUESTS),
    ],
  ] as const)('%s', async (_what, protocol, bytes) => {
    // In this thread, where a test sees its calls.
    const { port } = await startHttps(certificate);
    const clients = [];
    for (let n = 0; n < CONNECTIONS; n++) clients.push(await openFrameClient(port, protocol));
    const onGlitch = vi.spyOn(HttpsConnection.prototype, 'onGlitch');
    for (const client of clients) client.send(bytes);
    await Promise.all(clients.map(({ closed }) => closed));
    expect(onGlitch.mock.calls.length).toBeGreaterThan(CONNECTIONS * 60);
    expect(onGlitch.mock.calls.length).toBeLessThan((CONNECTIONS * REQUESTS) / 2);
  });
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
