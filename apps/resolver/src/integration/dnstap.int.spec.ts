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
import { named } from '../metrics/sums.js';
import { LogCount, LogCounts } from '../metrics/log-counts.js';
import { a } from '../query/testing/records.js';
import { askOneTcp, askUdp } from '../testing/client.js';
import { serveByLanes, udpClients } from '../testing/lane-service.js';
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

/**
 * Asks a few queries with fstrm_capture as the receiver.
 * @returns the frames as dnstap-ldns prints them: those about UDP, then those about TCP
 */
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
  // This thread and the lane.
  await expect.poll(() => service.counts.logs.connections).toBe(2);
  await askUdp(server, encodeQuery('www.Example.com', 1, { udpBytes: 1232 }));
  await askOneTcp(server, encodeQuery('x.blocked.example', 1));
  await askUdp(server, encodeQuery('www.example.com', 1, { flags: 0x2000 }));
  // The receiver has everything when it has said goodbye.
  await service.stop();
  await program.stop('SIGTERM');
  const yaml = await run('dnstap-ldns', ['-y', '-r', file]);
  const frames = parseAllDocuments(yaml, { uniqueKeys: false })
    .map((document) => document.toJS() as Frame | null)
    .filter((frame) => frame !== null);
  // Each thread has its own connection.
  const isTcp = ({ message }: Frame) => message['socket_protocol'] === 'TCP';
  return [...frames.filter((frame) => !isTcp(frame)), ...frames.filter(isTcp)];
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
      ['CLIENT_QUERY', 'UDP'],
      ['CLIENT_RESPONSE', 'UDP'],
      ['CLIENT_QUERY', 'TCP'],
      ['CLIENT_RESPONSE', 'TCP'],
    ]);
    const [query, answer, , refused, , blocked] = frames;
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
    const [query, answer, , , , blocked] = await capture(shown, receiver);
    expect(query.message).toMatchObject({ socket_family: 'INET', query_address: '127.0.0.1' });
    expect(query.message['query_port']).toBeGreaterThan(0);
    expect(query.message.query_message).toMatch(/;www\.Example\.com\.\s+IN\s+A/);
    expect(answer.message.response_message).toContain('192.0.2.1');
    expect(blocked.message.response_message).toContain('192.0.2.80');
  });

  it('sends what several lanes answer, each through its own connection', async () => {
    const { args, endpoint } = unixReceiver();
    const file = join(folder(), 'frames');
    const program = startProgram('fstrm_capture', ['-t', DNSTAP_CONTENT, '-w', file, ...args]);
    onTestFinished(() => program.stop());
    const { service, server, lanes } = await serveByLanes(
      { DNSTAP_ENDPOINT: endpoint, RESOLVER_THREADS: 2 },
      { parksLanes: false },
    );
    await expect.poll(() => service.counts.logs.connections).toBe(3);
    const clients = await udpClients(8);
    let asked = 0;
    while (lanes.some(({ laneCounts }) => laneCounts.answers === 0)) {
      for (const client of clients) {
        const answer = new Promise((resolve) => client.once('message', resolve));
        client.send(encodeQuery('www.blocked.example', 1), server.port, server.address);
        await answer;
        asked++;
      }
    }
    await service.stop();
    expect(service.counts.logs).toMatchObject({ sentFrames: 2 * asked, lostFrames: 0 });
    expect(service.counts.logs.connections).toBe(0);
    await program.stop('SIGTERM');
    const yaml = await run('dnstap-ldns', ['-y', '-r', file]);
    expect(yaml.match(/CLIENT_RESPONSE/g)).toHaveLength(asked);
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

function openSender(path: string) {
  const numbers = new Float64Array(LogCounts.size);
  const sender = new FrameSender({
    receiver: { path },
    log,
    counts: new LogCounts(numbers),
    capacityBytes: 64 * 1024,
    retryMs: 1,
  });
  sender.open();
  onTestFinished(() => sender.close());
  return { sender, counts: () => named(LogCount, numbers) };
}

describe('FrameSender', () => {
  it('loses and counts frames when the receiver is too slow, and keeps at most its capacity', async () => {
    const path = join(folder(), 'socket');
    const { sockets } = await listen(path);
    const { sender, counts } = openSender(path);
    await expect.poll(() => counts().connections).toBe(1);
    const frame = new Uint8Array(1000);
    let asked = 0;
    for (; counts().lostFrames < 100 && asked < 1_000_000; asked++) {
      sender.send(frame, frame.length);
      if (asked % 50 === 0) await nextTurn();
    }
    expect(counts().lostFrames).toBe(100);
    expect(counts().sentFrames + counts().lostFrames).toBe(asked);
    let bytes = 0;
    sockets[0].on('data', (data: Buffer) => (bytes += data.length));
    sockets[0].resume();
    const startBytes = writeControlFrame(Control.start, DNSTAP_CONTENT).length;
    await expect.poll(() => bytes).toBe(startBytes + counts().sentFrames * (4 + frame.length));
  });

  it('connects again after the receiver was away, and counts what is lost meanwhile', async () => {
    const path = join(folder(), 'socket');
    const { sender, counts } = openSender(path);
    sender.send(new Uint8Array(1), 1);
    expect(counts()).toMatchObject({ sentFrames: 0, lostFrames: 1 });
    const { sockets } = await listen(path);
    await expect.poll(() => counts().connections).toBe(1);
    sockets[0].destroy();
    await expect.poll(() => sockets.length).toBe(2);
    await expect.poll(() => counts().connections).toBe(1);
    sender.send(new Uint8Array(1), 1);
    expect(counts()).toMatchObject({ sentFrames: 1, lostFrames: 1 });
  });

  it('tries less and less often to reach a receiver that accepts and closes at once', async () => {
    const path = join(folder(), 'socket');
    let attempts = 0;
    const server = createServer((socket) => {
      attempts++;
      socket.on('error', () => undefined);
      socket.resume().end(writeControlFrame(Control.accept, DNSTAP_CONTENT));
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => {
      server.close();
    });
    const startedMs = performance.now();
    openSender(path);
    await expect.poll(() => attempts).toBeGreaterThan(8);
    // After 1, 2, 4 … ms.
    expect(performance.now() - startedMs).toBeGreaterThan(250);
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
    const { counts } = openSender(path);
    await expect.poll(() => attempts).toBeGreaterThan(2);
    expect(counts().connections).toBe(0);
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
    // A client may be faster than its lane counts.
    await expect.poll(() => service.counts.logs.lostFrames).toBe(2);
    await service.stop();
  });
});
