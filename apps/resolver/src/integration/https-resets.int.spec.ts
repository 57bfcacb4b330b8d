import { concat, encodeQuery } from '@weir/dns-wire/testing';
import { createLogger } from '@weir/ops';
import { policyOf } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { DnsService } from '../dns-service.js';
import { makeCertificate } from '../testing/certificate.js';
import { CONFIGURATION } from '../testing/configuration.js';
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

const { DATA, GOAWAY, HEADERS, PING } = FrameType;
const folder = mkdtempSync(join(tmpdir(), 'weir-resets-'));
const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
beforeAll(() => {
  makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A client of HTTP/2 that sends its frames as they are: `node:http2` does not send a request that is reset at once. */
async function connectClient() {
  const service = new DnsService({
    configuration: { ...CONFIGURATION, DNS_HTTPS_PORT: 0, DNS_TLS_CERT, DNS_TLS_KEY },
    upstreams: [],
    source: { policy: policyOf() },
    log: createLogger({ name: 'resolver', level: 'silent' }),
  });
  const { httpsPort: port = 0 } = await service.start();
  onTestFinished(() => service.stop());
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
