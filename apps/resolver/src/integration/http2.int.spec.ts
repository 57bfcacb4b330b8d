import { concat, decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { needs } from '@weir/ops/testing';
import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  FrameType,
  getHeaders,
  http2Frame,
  openFrameClient,
  POST_HEADERS,
} from '../testing/http2-frames.js';
import { run } from '../testing/programs.js';
import { openHttp2, postHttp2 } from '../testing/secure-clients.js';
import { respond } from '../testing/respond.js';
import { startService, type TestServiceOptions, useCertificate } from '../testing/service.js';
import { TestClock } from '../testing/test-clock.js';
import { UpstreamServer } from '../testing/upstream-server.js';

const { DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION } =
  FrameType;
const [PRIORITY, PUSH_PROMISE, UNKNOWN] = [2, 5, 200];
const [PADDED, HAS_PRIORITY] = [8, 32];
/** RFC 9113 §7. */
const [PROTOCOL, FLOW_CONTROL, FRAME_SIZE, COMPRESSION, CALM] = [1, 3, 6, 9, 11];
const QUERY = encodeQuery('www.blocked.example', 1, { id: 7, udpBytes: 1232 });
const NONE = new Uint8Array(0);

const certificate = useCertificate();
const folder = mkdtempSync(join(tmpdir(), 'weir-http2-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function serve(options: Partial<TestServiceOptions> = {}) {
  const policy = policyOf(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
  const configuration = { DNS_HTTPS_PORT: 0, CLIENT_QUERY_RATE: 0, ...certificate };
  const { httpsPort = 0, service } = await startService(configuration, {
    source: { policy },
    ...options,
  });
  return { port: httpsPort, service };
}

const connectClient = async () => openFrameClient((await serve()).port);

const uint32 = (value: number): Uint8Array =>
  Uint8Array.from([value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);
const setting = (id: number, value: number): Uint8Array =>
  concat([id >> 8, id & 255], uint32(value));
const settings = (...all: readonly Uint8Array[]): Uint8Array =>
  http2Frame(SETTINGS, 0, 0, concat(...all));
const get = (stream: number, flags = END_HEADERS | END_STREAM): Uint8Array =>
  http2Frame(
    HEADERS,
    flags,
    stream,
    getHeaders(`/dns-query?dns=${Buffer.from(QUERY).toString('base64url')}`),
  );
const post = (stream: number, body = QUERY): Uint8Array =>
  concat(
    http2Frame(HEADERS, END_HEADERS, stream, POST_HEADERS),
    http2Frame(DATA, END_STREAM, stream, body),
  );
const literal = (name: string, value: string): Uint8Array =>
  concat([0, name.length], Buffer.from(name), [value.length], Buffer.from(value));
const request = (...fields: readonly Uint8Array[]): Uint8Array =>
  http2Frame(HEADERS, END_HEADERS | END_STREAM, 1, concat(...fields));
const codeOf = (payload: Buffer): number => payload.readUInt32BE(payload.length - 4);

/** A client with a request on stream 1 that waits for an upstream until the gate opens. */
async function askGated(flags: number) {
  const gate = Promise.withResolvers<undefined>();
  const upstream = await UpstreamServer.start(async (query) => {
    await gate.promise;
    return respond(query);
  });
  onTestFinished(() => upstream.stop());
  const { port, service } = await serve({ upstreams: [upstream.endpoint] });
  const client = await openFrameClient(port);
  const dns = Buffer.from(encodeQuery('www.example.com', 1)).toString('base64url');
  client.send(http2Frame(HEADERS, flags, 1, getHeaders(`/dns-query?dns=${dns}`)));
  await expect.poll(() => upstream.asked.length).toBe(1);
  return { gate, client, service, port };
}

type Client = Awaited<ReturnType<typeof connectClient>>;

/** The server handles frames in order: the answer to a PING says that it has handled all before it. */
async function settled(client: Client): Promise<void> {
  const before = client.frames(PING).length;
  client.send(http2Frame(PING, 0, 0, Buffer.from('weirping')));
  await expect.poll(() => client.frames(PING).length).toBe(before + 1);
}

describe('a wrong frame ends the connection with', () => {
  it.each([
    ['PROTOCOL_ERROR: DATA of no stream', PROTOCOL, http2Frame(DATA, 0, 0, QUERY)],
    [
      'PROTOCOL_ERROR: DATA of a stream that was not opened',
      PROTOCOL,
      http2Frame(DATA, 0, 5, QUERY),
    ],
    ['PROTOCOL_ERROR: HEADERS of no stream', PROTOCOL, get(0)],
    ['PROTOCOL_ERROR: HEADERS of an even stream', PROTOCOL, get(2)],
    [
      'PROTOCOL_ERROR: more padding than payload',
      PROTOCOL,
      http2Frame(HEADERS, END_HEADERS | PADDED, 1, Uint8Array.of(9, 1)),
    ],
    [
      'PROTOCOL_ERROR: padding without its length',
      PROTOCOL,
      concat(
        get(1, END_HEADERS),
        http2Frame(DATA, PADDED, 1, NONE),
        http2Frame(HEADERS, PADDED, 3, NONE),
      ),
    ],
    [
      'PROTOCOL_ERROR: a frame inside a header block',
      PROTOCOL,
      concat(get(1, END_STREAM), http2Frame(PING, 0, 0, new Uint8Array(8))),
    ],
    [
      'PROTOCOL_ERROR: CONTINUATION of another stream',
      PROTOCOL,
      concat(get(1, END_STREAM), http2Frame(CONTINUATION, END_HEADERS, 3, NONE)),
    ],
    [
      'PROTOCOL_ERROR: CONTINUATION without HEADERS',
      PROTOCOL,
      http2Frame(CONTINUATION, END_HEADERS, 1, NONE),
    ],
    ['PROTOCOL_ERROR: RST_STREAM of no stream', PROTOCOL, http2Frame(RST_STREAM, 0, 0, uint32(8))],
    [
      'PROTOCOL_ERROR: RST_STREAM of a stream that was not opened',
      PROTOCOL,
      http2Frame(RST_STREAM, 0, 1, uint32(8)),
    ],
    [
      'PROTOCOL_ERROR: a request on a stream lower than one that was opened',
      PROTOCOL,
      concat(get(5), get(3)),
    ],
    ['PROTOCOL_ERROR: a second request on a stream', PROTOCOL, concat(get(5), get(5))],
    [
      'PROTOCOL_ERROR: DATA of an even stream',
      PROTOCOL,
      concat(get(5), http2Frame(DATA, 0, 2, QUERY)),
    ],
    [
      'PROTOCOL_ERROR: RST_STREAM of an even stream',
      PROTOCOL,
      concat(get(5), http2Frame(RST_STREAM, 0, 2, uint32(8))),
    ],
    [
      'PROTOCOL_ERROR: WINDOW_UPDATE of an even stream',
      PROTOCOL,
      concat(get(5), http2Frame(WINDOW_UPDATE, 0, 2, uint32(1))),
    ],
    ['PROTOCOL_ERROR: GOAWAY of a stream', PROTOCOL, http2Frame(GOAWAY, 0, 1, new Uint8Array(8))],
    ['PROTOCOL_ERROR: SETTINGS of a stream', PROTOCOL, http2Frame(SETTINGS, 0, 1, NONE)],
    ['PROTOCOL_ERROR: ENABLE_PUSH of 2', PROTOCOL, settings(setting(2, 2))],
    ['PROTOCOL_ERROR: frames of less than 16 kB', PROTOCOL, settings(setting(5, 16_383))],
    ['ENHANCE_YOUR_CALM: 33 settings', CALM, settings(new Uint8Array(33 * 6))],
    ['PROTOCOL_ERROR: PUSH_PROMISE', PROTOCOL, http2Frame(PUSH_PROMISE, END_HEADERS, 1, uint32(2))],
    ['PROTOCOL_ERROR: PING of a stream', PROTOCOL, http2Frame(PING, 0, 1, new Uint8Array(8))],
    ['PROTOCOL_ERROR: WINDOW_UPDATE by 0', PROTOCOL, http2Frame(WINDOW_UPDATE, 0, 0, uint32(0))],
    [
      'PROTOCOL_ERROR: WINDOW_UPDATE of a stream that was not opened',
      PROTOCOL,
      http2Frame(WINDOW_UPDATE, 0, 1, uint32(1)),
    ],
    [
      'FLOW_CONTROL_ERROR: a window of a connection above 2^31 - 1',
      FLOW_CONTROL,
      http2Frame(WINDOW_UPDATE, 0, 0, uint32(2 ** 31 - 1)),
    ],
    [
      'FLOW_CONTROL_ERROR: a first window above 2^31 - 1',
      FLOW_CONTROL,
      settings(setting(4, 2 ** 31)),
    ],
    [
      'FRAME_SIZE_ERROR: a frame of more than 16 kB',
      FRAME_SIZE,
      http2Frame(DATA, 0, 1, new Uint8Array(16_385)),
    ],
    [
      'FRAME_SIZE_ERROR: half a setting',
      FRAME_SIZE,
      http2Frame(SETTINGS, 0, 0, Uint8Array.of(0, 4, 0)),
    ],
    [
      'FRAME_SIZE_ERROR: an acknowledgement with settings',
      FRAME_SIZE,
      http2Frame(SETTINGS, ACK, 0, setting(4, 1)),
    ],
    ['FRAME_SIZE_ERROR: PING of 7 bytes', FRAME_SIZE, http2Frame(PING, 0, 0, new Uint8Array(7))],
    [
      'FRAME_SIZE_ERROR: RST_STREAM of 3 bytes',
      FRAME_SIZE,
      http2Frame(RST_STREAM, 0, 1, new Uint8Array(3)),
    ],
    [
      'FRAME_SIZE_ERROR: WINDOW_UPDATE of 3 bytes',
      FRAME_SIZE,
      http2Frame(WINDOW_UPDATE, 0, 0, new Uint8Array(3)),
    ],
    [
      'FRAME_SIZE_ERROR: PRIORITY of 4 bytes',
      FRAME_SIZE,
      http2Frame(PRIORITY, 0, 1, new Uint8Array(4)),
    ],
    [
      'COMPRESSION_ERROR: a header block that is no HPACK',
      COMPRESSION,
      request(Uint8Array.of(0xbe)),
    ],
    [
      'ENHANCE_YOUR_CALM: a header block of more than 8 kB',
      CALM,
      request(POST_HEADERS, new Uint8Array(9_000).fill(0x82)),
    ],
  ] as const)('%s', async (_what, code, bytes) => {
    const { port } = await serve();
    const client = await openFrameClient(port);
    client.send(bytes);
    await client.closed;
    expect(client.frames(GOAWAY).map(({ payload }) => codeOf(payload))).toEqual([code]);
    const other = await openFrameClient(port);
    other.send(get(1));
    await expect.poll(() => other.frames(DATA).length).toBe(1);
  });

  it('PROTOCOL_ERROR: frames before SETTINGS', async () => {
    const client = await openFrameClient((await serve()).port, 'h2', {
      preface: Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    });
    client.send(get(1));
    await client.closed;
    expect(client.frames(GOAWAY).map(({ payload }) => codeOf(payload))).toEqual([PROTOCOL]);
  });

  it('PROTOCOL_ERROR: another preface', async () => {
    const client = await openFrameClient((await serve()).port, 'h2', {
      preface: Buffer.from('GET /dns-query HTTP/1.1\r\nHost: a\r\n\r\n'),
    });
    await client.closed;
    expect(client.frames(GOAWAY).map(({ payload }) => codeOf(payload))).toEqual([PROTOCOL]);
  });
});

describe('a wrong request is reset, and others of its connection go on:', () => {
  const [method, scheme, path] = [
    literal(':method', 'GET'),
    literal(':scheme', 'https'),
    literal(':path', '/dns-query'),
  ];
  it.each([
    ['without a method', PROTOCOL, request(scheme, path)],
    ['without a scheme', PROTOCOL, request(method, path)],
    ['without a path', PROTOCOL, request(method, scheme)],
    ['with an empty path', PROTOCOL, request(method, scheme, literal(':path', ''))],
    ['with two methods', PROTOCOL, request(method, method, scheme, path)],
    [
      'with a pseudo-field of answers',
      PROTOCOL,
      request(method, scheme, path, literal(':status', '200')),
    ],
    [
      'with a pseudo-field behind others',
      PROTOCOL,
      request(method, scheme, literal('accept', '*/*'), path),
    ],
    [
      'with capital letters in a name',
      PROTOCOL,
      request(method, scheme, path, literal('Accept', '*/*')),
    ],
    [
      'with a field of HTTP/1.1',
      PROTOCOL,
      request(method, scheme, path, literal('connection', 'close')),
    ],
    [
      'with two authorities',
      PROTOCOL,
      request(method, scheme, path, literal(':authority', 'a'), literal(':authority', 'a')),
    ],
    [
      'with a TE other than trailers',
      PROTOCOL,
      request(method, scheme, path, literal('te', 'gzip')),
    ],
    ['with a NUL in a value', PROTOCOL, request(method, scheme, path, literal('x', 'a\0b'))],
    ['with a new line in a value', PROTOCOL, request(method, scheme, path, literal('x', 'a\r\nb'))],
    ['with a space before a value', PROTOCOL, request(method, scheme, path, literal('x', ' a'))],
    ['with a tab behind a value', PROTOCOL, request(method, scheme, path, literal('x', 'a\t'))],
    [
      'that ends with its headers, which say the length of a body',
      PROTOCOL,
      request(method, scheme, path, literal('content-length', '5')),
    ],
    [
      'with two lengths',
      PROTOCOL,
      request(method, scheme, path, literal('content-length', '0'), literal('content-length', '1')),
    ],
    [
      'with a length that is no number',
      PROTOCOL,
      request(method, scheme, path, literal('content-length', '-1')),
    ],
    [
      'with more than 64 fields',
      CALM,
      request(method, scheme, path, new Uint8Array(70).fill(0x90)),
    ],
    [
      'with a body that is shorter than its length',
      PROTOCOL,
      concat(
        http2Frame(HEADERS, END_HEADERS, 1, concat(POST_HEADERS, literal('content-length', '50'))),
        http2Frame(DATA, END_STREAM, 1, QUERY.subarray(0, 10)),
      ),
    ],
    [
      'with a body that is longer than its length',
      PROTOCOL,
      concat(
        http2Frame(HEADERS, END_HEADERS, 1, concat(POST_HEADERS, literal('content-length', '5'))),
        http2Frame(DATA, 0, 1, QUERY),
      ),
    ],
    [
      'with trailers that do not end it',
      PROTOCOL,
      concat(
        http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS),
        http2Frame(HEADERS, END_HEADERS, 1, NONE),
      ),
    ],
    ...[literal(':method', 'POST'), literal('X-A', 'b')].map(
      (trailer, n) =>
        [
          `with ${['a pseudo-field', 'capital letters'][n]} in its trailers`,
          PROTOCOL,
          concat(
            http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS),
            http2Frame(DATA, 0, 1, QUERY),
            http2Frame(HEADERS, END_HEADERS | END_STREAM, 1, trailer),
          ),
        ] as const,
    ),
    [
      'whose window gets 0 bytes',
      PROTOCOL,
      concat(
        http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS),
        http2Frame(WINDOW_UPDATE, 0, 1, uint32(0)),
      ),
    ],
    [
      'whose window grows beyond 2^31 - 1',
      FLOW_CONTROL,
      concat(
        http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS),
        http2Frame(WINDOW_UPDATE, 0, 1, uint32(2 ** 31 - 1)),
      ),
    ],
  ] as const)('%s', async (_what, code, bytes) => {
    const client = await connectClient();
    client.send(bytes);
    client.send(get(3));
    await expect.poll(() => client.frames(DATA)).toMatchObject([{ stream: 3, flags: END_STREAM }]);
    const resets = client
      .frames(RST_STREAM)
      .map(({ stream, payload }) => [stream, codeOf(payload)]);
    expect(resets).toEqual([[1, code]]);
    expect(client.frames(GOAWAY)).toEqual([]);
  });

  it('when 100 others are open', async () => {
    const client = await connectClient();
    client.send(open(0, 101));
    await settled(client);
    expect(
      client.frames(RST_STREAM).map(({ stream, payload }) => [stream, codeOf(payload)]),
    ).toEqual([[201, 7]]);
  });
});

/** Requests without their body. */
const open = (before: number, count: number): Uint8Array =>
  concat(
    ...Array.from({ length: count }, (_, n) =>
      http2Frame(HEADERS, END_HEADERS, 2 * (before + n) + 1, POST_HEADERS),
    ),
  );

describe('a client with too many open requests', () => {
  it('keeps its connection when it did not know the limit', async () => {
    const client = await connectClient();
    client.send(open(0, 400));
    await settled(client);
    expect(client.frames(RST_STREAM)).toHaveLength(300);
    expect(client.frames(GOAWAY)).toEqual([]);
  });

  it.each([
    ['when it knows the limit', concat(http2Frame(SETTINGS, ACK, 0, NONE), open(0, 400))],
    ['when it never acknowledges the limit', open(0, 1_600)],
  ])('loses its connection %s', async (_what, bytes) => {
    const client = await connectClient();
    client.send(bytes);
    await client.closed;
    expect(client.frames(GOAWAY).map(({ payload }) => codeOf(payload))).toEqual([CALM]);
  });
});

describe('a request is answered', () => {
  const asked = http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS);
  it.each([
    [
      'with padding and a priority',
      concat(
        http2Frame(
          HEADERS,
          END_HEADERS | PADDED | HAS_PRIORITY,
          1,
          concat([3], new Uint8Array(5), POST_HEADERS, new Uint8Array(3)),
        ),
        http2Frame(DATA, END_STREAM | PADDED, 1, concat([7], QUERY, new Uint8Array(7))),
      ),
    ],
    [
      'in pieces',
      concat(
        asked,
        ...[...QUERY].map((byte) => http2Frame(DATA, 0, 1, Uint8Array.of(byte))),
        http2Frame(DATA, END_STREAM, 1, NONE),
      ),
    ],
    [
      'whose headers come in three frames',
      concat(
        http2Frame(HEADERS, 0, 1, POST_HEADERS.subarray(0, 1)),
        http2Frame(CONTINUATION, 0, 1, POST_HEADERS.subarray(1, 9)),
        http2Frame(CONTINUATION, END_HEADERS, 1, POST_HEADERS.subarray(9)),
        http2Frame(DATA, END_STREAM, 1, QUERY),
      ),
    ],
    [
      'with trailers',
      concat(
        asked,
        http2Frame(DATA, 0, 1, QUERY),
        http2Frame(HEADERS, END_HEADERS | END_STREAM, 1, literal('x-a', 'b')),
      ),
    ],
    [
      'behind frames of no known type',
      concat(
        http2Frame(UNKNOWN, 255, 9, QUERY),
        http2Frame(PRIORITY, 0, 7, new Uint8Array(5)),
        post(1),
      ),
    ],
    [
      'when the client will ask nothing more',
      concat(post(1), http2Frame(GOAWAY, 0, 0, new Uint8Array(8))),
    ],
  ])('%s', async (_what, bytes) => {
    const client = await connectClient();
    client.send(bytes);
    await expect.poll(() => client.frames(DATA)).toMatchObject([{ stream: 1, flags: END_STREAM }]);
    const [{ payload }] = client.frames(DATA);
    expect(decodeMessage(payload).answers).toHaveLength(1);
    expect(client.frames(RST_STREAM)).toEqual([]);
  });

  it.each([
    ['a query', POST_HEADERS, END_HEADERS],
    ['refused', getHeaders('/none'), END_HEADERS | END_STREAM],
  ])('whose client waits to be asked for the body (RFC 9110 §10.1.1): %s', async (...asked) => {
    const [, headers, flags] = asked;
    const client = await connectClient();
    const expecting = concat(headers, literal('expect', '100-continue'));
    client.send(http2Frame(HEADERS, END_HEADERS, 1, expecting));
    await settled(client);
    const status = Buffer.concat([Buffer.of(0x08, 3), Buffer.from('100')]);
    const interim = { stream: 1, flags: END_HEADERS, payload: status };
    expect(client.frames(HEADERS)).toMatchObject([interim]);
    client.send(http2Frame(DATA, END_STREAM, 1, QUERY));
    await expect.poll(() => client.frames(HEADERS)).toMatchObject([interim, { stream: 1, flags }]);
  });

  it('when its bytes come one at a time', async () => {
    const client = await connectClient();
    for (const byte of concat(post(1), get(3))) client.send(Uint8Array.of(byte));
    await expect.poll(() => client.frames(DATA).map(({ stream }) => stream)).toEqual([1, 3]);
  });

  it('once, when its query is in the URI and its end comes in a frame without bytes', async () => {
    const { gate, client } = await askGated(END_HEADERS);
    client.send(http2Frame(DATA, END_STREAM, 1, NONE));
    await settled(client);
    expect(client.frames(HEADERS)).toEqual([]);
    gate.resolve(undefined);
    await expect.poll(() => client.frames(DATA)).toMatchObject([{ stream: 1, flags: END_STREAM }]);
    expect(client.frames(RST_STREAM)).toEqual([]);
  });

  it('with an error when its body comes, so that no reset is needed, which curl takes for a failure', async () => {
    const client = await connectClient();
    client.send(http2Frame(HEADERS, END_HEADERS, 1, getHeaders('/none')));
    await settled(client);
    expect(client.frames(HEADERS)).toEqual([]);
    client.send(http2Frame(DATA, END_STREAM, 1, QUERY));
    const isWhole = { stream: 1, flags: END_HEADERS | END_STREAM };
    await expect.poll(() => client.frames(HEADERS)).toMatchObject([isWhole]);
    expect(client.frames(RST_STREAM)).toEqual([]);
  });

  it('with an error within a second or so, when its body does not come', async () => {
    const client = await connectClient();
    client.send(http2Frame(HEADERS, END_HEADERS, 1, getHeaders('/none')));
    await expect
      .poll(() => client.frames(HEADERS), { timeout: 5_000 })
      .toMatchObject([{ stream: 1 }]);
    client.send(get(3));
    await expect.poll(() => client.frames(DATA).map(({ stream }) => stream)).toContain(3);
  });

  it('when the client has no room for a table of fields (RFC 9113 §4.3.1)', async () => {
    const { port } = await serve();
    const session = openHttp2(port);
    onTestFinished(() => {
      session.destroy();
    });
    session.on('error', () => undefined);
    for (const headerTableSize of [100, 0, 4_096, 0]) {
      await new Promise((resolve) => session.settings({ headerTableSize }, resolve));
      const [answer] = (await postHttp2(session, QUERY).toArray()) as Buffer[];
      expect(decodeMessage(answer).answers).toHaveLength(1);
    }
  });

  it('as soon as the windows of its stream and of the connection have room', async () => {
    const client = await connectClient();
    client.send(settings(setting(4, 10)));
    client.send(concat(get(1), get(3)));
    await settled(client);
    const sizes = (stream: number) =>
      client
        .frames(DATA)
        .filter((one) => one.stream === stream)
        .map(({ payload }) => payload.length);
    expect([sizes(1), sizes(3)]).toEqual([[10], [10]]);
    client.send(http2Frame(WINDOW_UPDATE, 0, 3, uint32(5)));
    await settled(client);
    expect([sizes(1), sizes(3)]).toEqual([[10], [10, 5]]);
    client.send(settings(setting(4, 1_000)));
    await expect
      .poll(() => client.frames(DATA).filter(({ flags }) => flags === END_STREAM).length)
      .toBe(2);
    const whole = Buffer.concat(
      client
        .frames(DATA)
        .filter(({ stream }) => stream === 3)
        .map(({ payload }) => payload),
    );
    expect(decodeMessage(whole).answers).toHaveLength(1);
  });

  it('with HEADERS and DATA side by side, however many come at once', async () => {
    const client = await connectClient();
    client.send(concat(...Array.from({ length: 40 }, (_, n) => post(2 * n + 1))));
    await expect.poll(() => client.frames(DATA).length).toBe(40);
    const types = client
      .allFrames()
      .map(({ type }) => type)
      .filter((type) => type === HEADERS || type === DATA);
    expect(types).toEqual(Array.from({ length: 40 }, () => [HEADERS, DATA]).flat());
  });

  it('after many bodies: the client may always send more', async () => {
    const client = await connectClient();
    const large = concat(QUERY, new Uint8Array(4_000 - QUERY.length));
    for (let n = 0; n < 60; n++) client.send(post(2 * n + 1, large));
    await expect.poll(() => client.frames(HEADERS).length).toBe(60);
    const granted = client.frames(WINDOW_UPDATE).map(({ payload }) => codeOf(payload));
    expect(granted.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(60 * 4_000 - 65_535);
  });

  it('but not one that comes after its end', async () => {
    const client = await connectClient();
    client.send(
      concat(
        http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS),
        post(3),
        http2Frame(DATA, END_STREAM, 3, QUERY),
      ),
    );
    await settled(client);
    expect(client.frames(DATA)).toHaveLength(1);
    expect(client.frames(GOAWAY)).toEqual([]);
  });
});

describe("the field's clients", () => {
  const query = join(folder, 'query');
  writeFileSync(query, QUERY);
  const MEDIA_TYPE = 'content-type: application/dns-message';
  const urlOf = (port: number) => `https://127.0.0.1:${port}/dns-query`;

  it(
    'h2load has every request answered, on many streams of several connections',
    needs('h2load'),
    async () => {
      const { port, service } = await serve();
      const output = await run('h2load', [
        ...['-n', '2000', '-c', '4', '-m', '50', '-d', query, '-H', MEDIA_TYPE, urlOf(port)],
      ]);
      expect(output).toContain(
        '2000 total, 2000 started, 2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout',
      );
      await expect.poll(() => service.counts.unreadBytes).toBe(0);
    },
  );

  it(
    'dnsperf has every query answered, one at a time: it reads one answer of a TLS record',
    needs('dnsperf'),
    async () => {
      const { port } = await serve();
      const names = join(folder, 'names');
      writeFileSync(names, 'www.blocked.example A\n'.repeat(200));
      const output = await run(
        'dnsperf',
        `-m doh -s 127.0.0.1 -p ${port} -d ${names} -n 1 -c 1 -q 1 -t 60 -O doh-uri=${urlOf(port)}`.split(
          ' ',
        ),
      );
      expect(output).toMatch(/Queries completed:\s+200 \(100.00%\)/);
      expect(output).toMatch(/Response codes:\s+NOERROR 200 \(100.00%\)/);
    },
  );

  it('curl posts a query', needs('curl'), async () => {
    const { port } = await serve();
    const output = await run('curl', [
      ...['-sk', '--http2', '-o', '/dev/null', '--data-binary', `@${query}`, '-H', MEDIA_TYPE],
      ...['-w', '%{http_version} %{http_code} %{content_type}', urlOf(port)],
    ]);
    expect(output).toBe('2 200 application/dns-message');
  });

  it('Node has each of its queries answered while others are cancelled', async () => {
    const { port } = await serve();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
        async (isCancelled) => {
          const session = openHttp2(port);
          session.on('error', () => undefined);
          const answers = isCancelled.map(async (cancel) => {
            const stream = postHttp2(session, QUERY);
            stream.on('error', () => undefined);
            if (cancel) {
              stream.close(8);
              return undefined;
            }
            return decodeMessage(Buffer.concat((await stream.toArray()) as Buffer[])).answers
              .length;
          });
          const expected = isCancelled.map((cancel) => (cancel ? undefined : 1));
          expect(await Promise.all(answers)).toEqual(expected);
          session.destroy();
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('a client that sends no more', () => {
  it.each([
    ['a whole request', END_HEADERS | END_STREAM],
    ['a query in its URI', END_HEADERS],
  ])('has its answer, which comes later: it sent %s', async (_what, flags) => {
    const { gate, client, port } = await askGated(flags);
    await client.end();
    // The server has read the end before it answers others.
    for (let n = 0; n < 2; n++) await settled(await openFrameClient(port));
    gate.resolve(undefined);
    await client.closed;
    expect(client.frames(DATA)).toMatchObject([{ stream: 1, flags: END_STREAM }]);
  });

  it('has all its answers, more than are handled in one turn', async () => {
    const client = await connectClient();
    client.send(http2Frame(WINDOW_UPDATE, 0, 0, uint32(2 ** 30)));
    client.send(concat(...Array.from({ length: 2_000 }, (_, n) => post(2 * n + 1))));
    await client.end();
    await client.closed;
    expect(client.frames(DATA)).toHaveLength(2_000);
  });

  it('loses its connection when the rest of its only request cannot come', async () => {
    const client = await connectClient();
    client.send(http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS));
    await client.end();
    await client.closed;
    expect(client.frames(DATA)).toEqual([]);
  });
});

it.each([
  ['frame', http2Frame(HEADERS, END_HEADERS, 1, POST_HEADERS).subarray(0, -1)],
  ['header block', http2Frame(HEADERS, END_STREAM, 1, POST_HEADERS)],
])(
  'counts the bytes of an unfinished %s, and closes the connection when it is idle',
  async (_, bytes) => {
    const clock = new TestClock({ monotonicMs: 0 });
    const { port, service } = await serve({ times: clock.times });
    const client = await openFrameClient(port);
    client.send(bytes);
    await expect.poll(() => service.counts.unreadBytes).toBeGreaterThan(POST_HEADERS.length - 1);
    clock.monotonicMs = 10_001;
    await client.closed;
    await expect.poll(() => service.counts.unreadBytes).toBe(0);
  },
);

it('tells the client of an idle connection which requests were read, and closes it', async () => {
  const clock = new TestClock({ monotonicMs: 0 });
  const { port } = await serve({ times: clock.times });
  const client = await openFrameClient(port);
  client.send(concat(get(1), get(3)));
  await expect.poll(() => client.frames(DATA)).toHaveLength(2);
  clock.monotonicMs = 10_001;
  await client.closed;
  expect(client.frames(GOAWAY).map(({ payload }) => [...payload])).toEqual([
    [...uint32(3), ...uint32(0)],
  ]);
});

it('drains: open requests are answered, then the connection ends', async () => {
  const { gate, client, service } = await askGated(END_HEADERS | END_STREAM);
  const stopped = service.stop();
  await expect.poll(() => client.frames(GOAWAY).map(({ payload }) => codeOf(payload))).toEqual([0]);
  // What the client sent before it read of the end.
  client.send(concat(post(3), http2Frame(WINDOW_UPDATE, 0, 3, uint32(9)), get(5)));
  client.send(http2Frame(RST_STREAM, 0, 5, uint32(8)));
  await settled(client);
  gate.resolve(undefined);
  await Promise.all([client.closed, stopped]);
  expect(client.frames(DATA).map(({ stream }) => stream)).toEqual([1]);
  expect(client.frames(GOAWAY)).toHaveLength(1);
});
