import { hashDomain, parseHashKey } from '@weir/dns-name';
import { encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs, createLogger } from '@weir/ops';
import type { Policy } from '@weir/policy';
import { freePort, needs } from '@weir/ops/testing';
import { domainRule, HASH_KEY_HEX, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { DnsConfiguration } from '../configuration.js';
import {
  FrameSender,
  Control,
  DNSTAP_CONTENT,
  readControlFrame,
  writeControlFrame,
} from '../dnstap/frame-sender.js';
import { a } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { run, startProgram } from '../testing/programs.js';
import { respond } from '../testing/respond.js';
import { withSecretCategory } from '../testing/secret-category.js';
import { createService } from '../testing/service.js';
import { UpstreamServer } from '../testing/upstream-server.js';

const log = createLogger({ name: 'resolver', level: 'silent' });
const hashOf = (name: string) => hashDomain(name, parseHashKey(HASH_KEY_HEX));

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'weir-dnstap-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

const policyWithRule = () =>
  policyOf(profile(7), loopback(7), domainRule(7, 'deny', 'blocked.example'));

async function startService(configuration: Partial<DnsConfiguration>, policy = policyWithRule()) {
  const upstream = await UpstreamServer.start((query) =>
    respond(query, { answers: [a('192.0.2.1')] }),
  );
  onTestFinished(() => upstream.stop());
  const service = createService(configuration, {
    upstreams: [upstream.endpoint],
    source: { policy },
  });
  const server = await service.start();
  return { service, server };
}

interface Frame {
  type: string;
  identity: string;
  version: string;
  message: Readonly<Record<string, unknown>> & {
    query_message?: string;
    response_message?: string;
  };
}

/** Asks a few queries with fstrm_capture as the receiver. @returns the frames as dnstap-ldns prints them */
async function capture(
  configuration: Partial<DnsConfiguration>,
  receiver: {
    readonly args: readonly string[];
    readonly endpoint: DnsConfiguration['DNSTAP_ENDPOINT'];
  },
  policy?: Policy,
): Promise<Frame[]> {
  const file = join(folder(), 'frames');
  const args = ['-t', DNSTAP_CONTENT, '-w', file, ...receiver.args];
  const program = startProgram('fstrm_capture', args);
  onTestFinished(() => program.stop());
  const { service, server } = await startService(
    {
      DNS_SERVER_ID: 'resolver-1',
      DNSTAP_ENDPOINT: receiver.endpoint,
      ...configuration,
    },
    policy,
  );
  await expect.poll(() => service.dnstapSender?.isConnected).toBe(true);
  await askUdp(server, encodeQuery('www.Example.com', 1, { udpBytes: 1232 }));
  await askOneTcp(server, encodeQuery('x.blocked.example', 1));
  await askUdp(server, encodeQuery('www.example.com', 1, { flags: 0x2000 }));
  // The receiver has everything when it has said goodbye.
  await service.stop();
  await program.stop('SIGTERM');
  const yaml = await run('dnstap-ldns', ['-y', '-r', file]);
  return parseAllDocuments(yaml, { uniqueKeys: false })
    .map((document) => document.toJS() as Frame | null)
    .filter((frame) => frame !== null);
}

describe('dnstap', needs('fstrm_capture', 'dnstap-ldns'), () => {
  const unixReceiver = () => {
    const path = join(folder(), 'socket');
    return { args: ['-u', path], endpoint: { path } };
  };

  it('sends hashes in place of names, and nothing about the client', async () => {
    const frames = await capture({}, unixReceiver());
    expect(frames.map(({ message }) => [message['type'], message['socket_protocol']])).toEqual([
      ['CLIENT_QUERY', 'UDP'],
      ['CLIENT_RESPONSE', 'UDP'],
      ['CLIENT_QUERY', 'TCP'],
      ['CLIENT_RESPONSE', 'TCP'],
      ['CLIENT_QUERY', 'UDP'],
      ['CLIENT_RESPONSE', 'UDP'],
    ]);
    const [query, answer, , blocked, , refused] = frames;
    expect(query).toMatchObject({ type: 'MESSAGE', identity: 'resolver-1' });
    expect(query.version).toMatch(/^weir \d+\.\d+\.\d+$/);
    expect(query.message.query_message).toContain(`${hashOf('www.example.com')}.invalid.`);
    expect(answer.message.response_message).toContain('rcode: NOERROR');
    expect(blocked.message.response_message).toContain(`${hashOf('x.blocked.example')}.invalid.`);
    expect(refused.message.response_message).toContain('rcode: NOTIMP');
    expect(JSON.stringify(frames)).not.toMatch(/example|127\.0\.0\.1|192\.0\.2/i);
    expect(answer.message).not.toHaveProperty('query_address');
    const seconds = Date.parse(String(answer.message['response_time'])) / 1000;
    expect(Math.abs(seconds - Date.now() / 1000)).toBeLessThan(600);
  });

  it.each([false, true])(
    'tells nothing of a name that a secret category denies (DNSTAP_NAMES %s)',
    async (names) => {
      const policy = withSecretCategory(policyOf(profile(7), loopback(7)), 'blocked.example');
      const frames = await capture({ DNSTAP_NAMES: names }, unixReceiver(), policy);
      const ofSecret = frames.filter(({ message }) => message['socket_protocol'] === 'TCP');
      expect(ofSecret.length).toBeGreaterThan(0);
      expect(JSON.stringify(frames)).not.toMatch(/blocked/);
      expect(JSON.stringify(frames)).not.toContain(String(hashOf('x.blocked.example')));
    },
  );

  it('sends names, records and addresses on request, over TCP', async () => {
    const port = await freePort();
    const receiver = {
      args: ['-a', '127.0.0.1', '-p', String(port)],
      endpoint: { host: '127.0.0.1', port },
    };
    const shown = { DNSTAP_NAMES: true, DNSTAP_ADDRESSES: true };
    const [query, answer, , blocked] = await capture(shown, receiver);
    expect(query.message).toMatchObject({ socket_family: 'INET', query_address: '127.0.0.1' });
    expect(query.message['query_port']).toBeGreaterThan(0);
    expect(query.message.query_message).toMatch(/;www\.Example\.com\.\s+IN\s+A/);
    expect(answer.message.response_message).toContain('192.0.2.1');
    expect(blocked.message.response_message).toContain('192.0.2.80');
  });

  it('sends one of every n queries', async () => {
    expect(await capture({ DNSTAP_SAMPLING: 2 }, unixReceiver())).toHaveLength(4);
  });
});

/** A receiver of the test, which says when it is asked to stop reading. */
async function listen(path: string): Promise<{ server: Server; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', (data: Buffer) => {
      expect(readControlFrame(data)).toMatchObject({ type: Control.ready });
      socket.write(writeControlFrame(Control.accept, DNSTAP_CONTENT));
      socket.pause();
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, sockets };
}

function openSender(path: string): FrameSender {
  const sender = new FrameSender({
    receiver: { path },
    log,
    capacityBytes: 64 * 1024,
    retryMs: 1,
  });
  sender.open();
  onTestFinished(() => sender.close());
  return sender;
}

describe('FrameSender', () => {
  it('loses and counts frames when the receiver is too slow, and keeps at most its capacity', async () => {
    const path = join(folder(), 'socket');
    const { sockets } = await listen(path);
    const sender = openSender(path);
    await expect.poll(() => sender.isConnected).toBe(true);
    const frame = new Uint8Array(1000);
    let asked = 0;
    for (; sender.lost < 100 && asked < 1_000_000; asked++) {
      sender.send(frame, frame.length);
      if (asked % 50 === 0) await nextTurn();
    }
    expect(sender.lost).toBe(100);
    expect(sender.sent + sender.lost).toBe(asked);
    let bytes = 0;
    sockets[0].on('data', (data: Buffer) => (bytes += data.length));
    sockets[0].resume();
    const startBytes = writeControlFrame(Control.start, DNSTAP_CONTENT).length;
    await expect.poll(() => bytes).toBe(startBytes + sender.sent * (4 + frame.length));
  });

  it('connects again after the receiver was away, and counts what is lost meanwhile', async () => {
    const path = join(folder(), 'socket');
    const sender = openSender(path);
    sender.send(new Uint8Array(1), 1);
    expect([sender.sent, sender.lost]).toEqual([0, 1]);
    const { sockets } = await listen(path);
    await expect.poll(() => sender.isConnected).toBe(true);
    sockets[0].destroy();
    await expect.poll(() => sockets.length).toBe(2);
    await expect.poll(() => sender.isConnected).toBe(true);
    sender.send(new Uint8Array(1), 1);
    expect([sender.sent, sender.lost]).toEqual([1, 1]);
  });

  it.each([
    ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n')],
    ['another content type', writeControlFrame(Control.accept, 'protobuf:other')],
    ['a control frame of the wrong kind', writeControlFrame(Control.start)],
    ['an endless control frame', Buffer.from([0, 0, 0, 0, 0x7f, 0, 0, 0])],
  ])('does not send to a receiver that answers with %s', async (_what, answer) => {
    const path = join(folder(), 'socket');
    let attempts = 0;
    const server = createServer((socket) => {
      attempts++;
      socket.on('error', () => undefined);
      socket.resume().write(answer);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => {
      server.close();
    });
    const sender = openSender(path);
    await expect.poll(() => attempts).toBeGreaterThan(2);
    expect(sender.isConnected).toBe(false);
  });
});

describe('a resolver whose dnstap receiver is away', () => {
  it('answers and stops as if there was none', async () => {
    const path = join(folder(), 'nobody');
    const { service, server } = await startService({
      DNSTAP_ENDPOINT: { path },
      DNS_ALLOWED_CLIENTS: parseCidrs(['127.0.0.0/8']),
    });
    expect(await askUdp(server, encodeQuery('www.example.com', 1))).not.toBeNull();
    expect(service.dnstapSender?.lost).toBe(2);
    await service.stop();
  });
});
