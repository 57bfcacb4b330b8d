import { proxyHeader } from '@weir/clients/testing';
import { concat, decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { parseCidrs } from '@weir/ops';
import { domainRule, loopback, policyOf, profile, put } from '@weir/policy-feed/testing';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { request } from 'node:https';
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { DnsConfiguration } from '../configuration.js';
import { makeCertificate, needs } from '@weir/ops/testing';
import { run } from '../testing/programs.js';
import { NEVER } from '../testing/forwarding.js';
import { respond } from '../testing/respond.js';
import { frame, UpstreamServer } from '../testing/upstream-server.js';
import { TestClock } from '../testing/test-clock.js';
import { createService } from '../testing/service.js';

const folder = mkdtempSync(join(tmpdir(), 'weir-secure-'));
const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
let ca: Buffer;
beforeAll(() => {
  makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
  ca = readFileSync(DNS_TLS_CERT);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const SUBSCRIBER = put('ipv4Network', { address: 0xc000_0207, prefixLength: 32, profileId: 1 });

async function serve(configuration: Partial<DnsConfiguration> = {}, options = {}) {
  const policy = policyOf(
    profile(1),
    loopback(1),
    SUBSCRIBER,
    domainRule(1, 'deny', 'blocked.example'),
  );
  const secure = { DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, DNS_TLS_CERT, DNS_TLS_KEY };
  const service = createService(
    { ...secure, ...configuration },
    { source: { policy }, ...options },
  );
  const { tlsPort = 0, httpsPort = 0 } = await service.start();
  cleanups.push(() => service.stop());
  const transports = () =>
    [...service.counts.queries.answeredCounts()].map(([one]) => one.transport);
  return { service, tlsPort, httpsPort, transports };
}

const blocked = (id = 7) => encodeQuery('www.blocked.example', 1, { id, udpBytes: 1232 });

describe('DNS over TLS (RFC 7858)', () => {
  const ask = (socket: TLSSocket, queries: Uint8Array[]) =>
    new Promise<number[]>((resolve, reject) => {
      let received: Buffer = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        const ids: number[] = [];
        for (let at = 0; at + 2 < received.length; at += 2 + received.readUInt16BE(at)) {
          ids.push(received.readUInt16BE(at + 2));
        }
        if (ids.length === queries.length) resolve(ids);
      });
      socket.on('error', reject);
      socket.write(concat(...queries.map((query) => frame(query))));
    });

  it('applies the same policy, answers pipelined queries, and counts the transport', async () => {
    const { tlsPort, transports } = await serve();
    const socket = connectTls({ host: '127.0.0.1', port: tlsPort, ca, ALPNProtocols: ['dot'] });
    cleanups.push(() => socket.destroy());
    expect(await ask(socket, [blocked(1), blocked(2), blocked(3)])).toEqual([1, 2, 3]);
    expect(transports()).toEqual(['tls']);
  });

  it('takes the client from a PROXY header before the handshake', async () => {
    const DNS_PROXY_PROTOCOL_FROM = parseCidrs(['127.0.0.1']);
    const { tlsPort, httpsPort, service } = await serve({ DNS_PROXY_PROTOCOL_FROM });
    for (const port of [tlsPort, httpsPort]) {
      const plain = connectPlain(port, '127.0.0.1');
      plain.write(proxyHeader({ source: 'c0000207', port: 999 }));
      const ALPNProtocols = port === tlsPort ? ['dot'] : ['http/1.1'];
      const socket = connectTls({ socket: plain, host: '127.0.0.1', ca, ALPNProtocols });
      cleanups.push(() => socket.destroy());
      if (port === tlsPort) {
        expect(await ask(socket, [blocked(9)])).toEqual([9]);
      } else {
        const dns = Buffer.from(blocked()).toString('base64url');
        socket.write(`GET /dns-query?dns=${dns} HTTP/1.1\r\nHost: dns.example.com\r\n\r\n`);
        const head = await new Promise<string>((resolve) => {
          socket.once('data', (chunk: Buffer) => {
            resolve(chunk.toString('latin1'));
          });
        });
        expect(head).toMatch(/^HTTP\/1.1 200 /);
      }
    }
    const rows = [...service.counts.queries.answeredCounts()];
    expect(rows.map(([row]) => row.verdict)).toEqual(['block', 'block']);
  });

  it('takes a PROXY header and the first bytes of the handshake from one segment', async () => {
    const DNS_PROXY_PROTOCOL_FROM = parseCidrs(['127.0.0.1']);
    const { tlsPort } = await serve({ DNS_PROXY_PROTOCOL_FROM });
    const balancer = createServer((client) => {
      const server = connectPlain(tlsPort, '127.0.0.1');
      client.once('data', (first: Buffer) => {
        server.write(concat(proxyHeader({ source: 'c0000207' }), first));
        client.pipe(server).pipe(client);
      });
      for (const socket of [client, server]) socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => balancer.close());
    const { port } = balancer.address() as AddressInfo;
    const socket = connectTls({ host: '127.0.0.1', port, ca });
    cleanups.push(() => socket.destroy());
    expect(await ask(socket, [blocked(5), blocked(6)])).toEqual([5, 6]);
  });

  it('is spoken with kdig', needs('kdig'), async () => {
    const { tlsPort } = await serve();
    const args = [
      '@127.0.0.1',
      '-p',
      `${tlsPort}`,
      `+tls-ca=${DNS_TLS_CERT}`,
      'www.blocked.example',
    ];
    const output = await run('kdig', args);
    expect(output).toContain('TLS session (TLS1.3)');
    expect(output).toMatch(/www.blocked.example.\s+10\s+IN\s+A\s+192.0.2.80/);
    // kdig pads queries over TLS, so the answer is padded (RFC 8467).
    expect(output).toMatch(/; PADDING: \d+ B/);
    expect(output).toMatch(/Received 468 B/);
    const plain = await run('kdig', [...args, '+nopadding']);
    expect(plain).not.toContain('PADDING');
  });
});

describe('DNS over HTTPS (RFC 8484)', () => {
  type Headers = Record<string, string | number>;
  interface Answer {
    status: number;
    headers: Record<string, unknown>;
    body: Buffer;
  }

  const http2 = (port: number) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
    cleanups.push(() => {
      session.destroy();
    });
    return session;
  };
  const askHttp2 = (session: ClientHttp2Session, headers: Headers, body?: Uint8Array) =>
    new Promise<Answer>((resolve, reject) => {
      const stream = session.request(headers, { endStream: body === undefined });
      const chunks: Buffer[] = [];
      let got: Record<string, unknown> = {};
      stream.on('response', (fields) => (got = fields));
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        resolve({ status: Number(got[':status']), headers: got, body: Buffer.concat(chunks) });
      });
      stream.on('error', reject);
      if (body !== undefined) stream.end(body);
    });
  const askHttp1 = (port: number, method: string, path: string, headers: Headers, body?: Uint8Array) =>
    new Promise<Answer>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path, headers, ca, agent: false };
      const call = request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
        });
      });
      call.on('error', reject);
      call.end(body);
    }); // oxfmt-ignore
  const type = { 'content-type': 'application/dns-message' };
  const getPath = (query: Uint8Array) =>
    `/dns-query?dns=${Buffer.from(query).toString('base64url')}`;

  function expectBlocked({ status, headers, body }: Answer): void {
    expect(status).toBe(200);
    expect(headers).toMatchObject({ ...type, 'cache-control': 'private, max-age=10' });
    expect(headers['content-length']).toBe(String(body.length));
    expect(Math.abs(Date.parse(String(headers['date'])) - Date.now())).toBeLessThan(60_000);
    expect(decodeMessage(body)).toMatchObject({ id: 7, rcode: 0, ede: [17], trailing: 0 });
    expect(decodeMessage(body).answers).toHaveLength(1);
  }

  it('applies the same policy to GET and POST over HTTP/2 and HTTP/1.1', async () => {
    const { httpsPort, transports } = await serve();
    const session = http2(httpsPort);
    expectBlocked(await askHttp2(session, { ':path': getPath(blocked()) }));
    const post = { ':method': 'POST', ':path': '/dns-query', ...type };
    expectBlocked(await askHttp2(session, post, blocked()));
    expectBlocked(await askHttp1(httpsPort, 'GET', getPath(blocked()), {}));
    expectBlocked(await askHttp1(httpsPort, 'POST', '/dns-query', type, blocked()));
    expect(transports()).toEqual(['https']);
  });

  it('answers pipelined HTTP/1.1 requests in order, and closes after an unread body', async () => {
    const { httpsPort } = await serve();
    const socket = connectTls({
      host: '127.0.0.1',
      port: httpsPort,
      ca,
      ALPNProtocols: ['http/1.1'],
    });
    cleanups.push(() => socket.destroy());
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    const get = (id: number) =>
      `GET ${getPath(blocked(id))} HTTP/1.1\r\nHost: dns.example.com\r\n\r\n`;
    socket.write(get(0x4141) + get(0x4242));
    const bodies = () => [...received.matchAll(/\r\n\r\n(..)/g)].map(([, id]) => id);
    await expect.poll(bodies).toEqual(['AA', 'BB']);
    socket.write(get(0x4343));
    await expect.poll(bodies).toEqual(['AA', 'BB', 'CC']);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const head = 'Host: dns.example.com\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n';
    socket.write(`POST /dns-query HTTP/1.1\r\n${head}`);
    await closed;
    expect(received).toMatch(/HTTP\/1.1 415 /);
  });

  /** A service whose upstream waits for the gate, on a clock that stands still, and two clients that have asked it. */
  async function askGated(configuration: Partial<DnsConfiguration> = {}) {
    const gate = Promise.withResolvers<undefined>();
    const upstream = await UpstreamServer.start(async (query) => {
      await gate.promise;
      return respond(query);
    });
    cleanups.push(() => upstream.stop());
    const clock = new TestClock({ monotonicMs: 0 });
    const { httpsPort } = await serve(configuration, {
      ...{ upstreams: [upstream.endpoint], forwarding: NEVER, times: clock.times },
    });
    const path = (name: string) => getPath(encodeQuery(name, 1));
    const answer = askHttp2(http2(httpsPort), { ':path': path('http2.example') });
    const socket = connectTls({
      ...{ host: '127.0.0.1', port: httpsPort, allowHalfOpen: true },
      ...{ ca, ALPNProtocols: ['http/1.1'] },
    });
    cleanups.push(() => socket.destroy());
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
    const ended = new Promise<string>((resolve) => socket.once('end', () => resolve(received)));
    const request = `GET ${path('http1.example')} HTTP/1.1\r\nHost: dns.example.com\r\n\r\n`;
    socket.end(request.repeat(2));
    await expect.poll(() => upstream.asked.length).toBe(2);
    return { gate, clock, httpsPort, answer, ended };
  }

  it('answers all requests of an HTTP/1.1 client that sends no more', async () => {
    const { gate, httpsPort, ended } = await askGated();
    // The server has read the end before it answers others.
    for (let n = 0; n < 2; n++) {
      expectBlocked(await askHttp1(httpsPort, 'GET', getPath(blocked()), {}));
    }
    gate.resolve(undefined);
    expect((await ended).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });

  it('keeps connections that wait for an answer when half of all are in use', async () => {
    const { gate, clock, httpsPort, answer, ended } = await askGated({ DNS_TCP_CONNECTIONS: 5 });
    const idle = http2(httpsPort);
    const closed = new Promise((resolve) => idle.once('close', resolve));
    await new Promise((resolve) => idle.once('remoteSettings', resolve));
    clock.monotonicMs = 2_600;
    await closed;
    gate.resolve(undefined);
    expect((await answer).status).toBe(200);
    expect((await ended).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  });

  it('closes the connection of a client that ends it instead of a handshake', async () => {
    const { httpsPort } = await serve({}, { times: new TestClock({ monotonicMs: 0 }).times });
    const socket = connectPlain({ host: '127.0.0.1', port: httpsPort });
    cleanups.push(() => socket.destroy());
    socket.end();
    await new Promise((resolve) => socket.once('close', resolve));
  });

  it('answers many streams of one connection', async () => {
    const { httpsPort } = await serve();
    const session = http2(httpsPort);
    // Until the client knows the stream limit, streams over the limit are refused.
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    const ids = Array.from({ length: 200 }, (_, id) => id);
    const answers = await Promise.all(
      ids.map((id) => askHttp2(session, { ':path': getPath(blocked(id)) })),
    );
    expect(answers.map(({ body }) => body.readUInt16BE(0))).toEqual(ids);
  });

  it('sets max-age to the TTL: 0 for an error, the SOA minimum for a negative answer', async () => {
    const { httpsPort } = await serve();
    const session = http2(httpsPort);
    const cacheControl = async (name: string, options = {}) => {
      const answer = await askHttp2(session, { ':path': getPath(encodeQuery(name, 1, options)) });
      expect(answer.status).toBe(200);
      return answer.headers['cache-control'];
    };
    expect(await cacheControl('www.example.com', { qclass: 3 })).toBe('private, max-age=0');
    expect(await cacheControl('nothing.invalid')).toMatch(/^private, max-age=[1-9]\d+$/);
  });

  it('answers an invalid request with an HTTP error, over both versions', async () => {
    const { httpsPort, service } = await serve({ CLIENT_QUERY_RATE: 1000 });
    const session = http2(httpsPort);
    const cases: [string, string, Headers, Uint8Array | undefined, number][] = [
      ['GET', '/', {}, undefined, 404],
      ['DELETE', '/dns-query', {}, undefined, 405],
      ['GET', '/dns-query', {}, undefined, 400],
      ['GET', '/dns-query?dns=AAAA', {}, undefined, 400],
      ['POST', '/dns-query', { 'content-type': 'text/plain' }, blocked(), 415],
      ['POST', '/dns-query', type, new Uint8Array(4097), 413],
      ['POST', '/dns-query', type, encodeQuery('example.com', 1, { flags: 0x8000 }), 400],
    ];
    for (const [method, path, headers, body, status] of cases) {
      const fields = { ':method': method, ':path': path, ...headers };
      const two = await askHttp2(session, fields, body);
      const one = await askHttp1(httpsPort, method, path, headers, body);
      expect([two.status, one.status], `${method} ${path}`).toEqual([status, status]);
      if (status === 405) expect(one.headers.allow).toBe('GET, POST');
    }
    expect(service.counts.queries.droppedCounts()).toContainEqual([{ why: 'malformed' }, 4]);
    expectBlocked(await askHttp2(session, { ':path': getPath(blocked()) }));
  });

  it.each([
    ['two Host fields', 'Host: dns.example.com\r\nHost: dns.example.com\r\n', 400],
    ['a Host field that is no host', 'Host: dns example/com\r\n', 400],
    ['no Host field', '', 400],
    ['a port in its Host field', 'Host: [::1]:443\r\n', 200],
  ])('answers an HTTP/1.1 request with %s (RFC 9112 §3.2)', async (_what, lines, status) => {
    const { httpsPort: port } = await serve();
    const options = { host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'] };
    const socket = connectTls(options);
    cleanups.push(() => socket.destroy());
    socket.write(`GET ${getPath(blocked())} HTTP/1.1\r\n${lines}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('answers 429 over the query limit', async () => {
    const options = new TestClock({ monotonicMs: 5000 });
    const { httpsPort } = await serve({ CLIENT_QUERY_RATE: 1 }, options);
    const session = http2(httpsPort);
    expectBlocked(await askHttp2(session, { ':path': getPath(blocked()) }));
    expect((await askHttp2(session, { ':path': getPath(blocked()) })).status).toBe(429);
  });

  it('survives clients that disconnect during a request', async () => {
    const { httpsPort } = await serve();
    for (let i = 0; i < 5; i++) {
      const session = connectHttp2(`https://127.0.0.1:${httpsPort}`, { ca });
      session.on('error', () => undefined);
      const stream = session.request({ ':method': 'POST', ':path': '/dns-query', ...type });
      stream.on('error', () => undefined);
      stream.write(blocked().subarray(0, 10));
      await new Promise((resolve) => session.once('remoteSettings', resolve));
      if (i % 2 === 0) stream.close(8);
      session.destroy();
    }
    expectBlocked(await askHttp1(httpsPort, 'GET', getPath(blocked()), {}));
  });

  it('closes its connections when the service stops', async () => {
    const { httpsPort, service } = await serve();
    const session = http2(httpsPort);
    expectBlocked(await askHttp2(session, { ':path': getPath(blocked()) }));
    const closed = new Promise((resolve) => session.once('close', resolve));
    await service.stop();
    await closed;
    cleanups.shift();
  });

  it('is spoken with kdig', needs('kdig'), async () => {
    const { httpsPort } = await serve();
    const args = [
      '@127.0.0.1',
      '-p',
      `${httpsPort}`,
      '+https',
      `+tls-ca=${DNS_TLS_CERT}`,
      'www.blocked.example',
    ];
    for (const how of ['+https', '+https-get']) {
      const output = await run('kdig', [...args, how]);
      expect(output).toContain('HTTP session (HTTP/2');
      expect(output).toMatch(/www.blocked.example.\s+10\s+IN\s+A\s+192.0.2.80/);
    }
  });
});

describe('DNS over TLS and HTTPS', () => {
  const handshake = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connectTls({ host: '127.0.0.1', port, ca, ALPNProtocols: ['dot', 'h2'] });
      cleanups.push(() => socket.destroy());
      socket.once('secureConnect', () => {
        resolve(true);
      });
      socket.once('error', () => {
        resolve(false);
      });
    });

  it('refuse a second handshake of TLS 1.2, which no limit counts (RFC 9113 §9.2.1)', async () => {
    const { tlsPort, httpsPort } = await serve();
    for (const port of [tlsPort, httpsPort]) {
      const socket = connectTls({ host: '127.0.0.1', port, ca, maxVersion: 'TLSv1.2' });
      cleanups.push(() => socket.destroy());
      await once(socket, 'secureConnect');
      const result = new Promise<string>((resolve) => {
        socket.once('error', ({ code = '' }: NodeJS.ErrnoException) => {
          resolve(code);
        });
        socket.renegotiate({}, () => {
          resolve('renegotiated');
        });
      });
      expect(await result).toBe('ERR_SSL_NO_RENEGOTIATION');
    }
  });

  it('share the limit of handshakes per second, which begins again in the next second', async () => {
    const clock = new TestClock({ monotonicMs: 5000 });
    const { tlsPort, httpsPort, service } = await serve({ CLIENT_TLS_HANDSHAKE_RATE: 2 }, clock);
    expect(await handshake(tlsPort)).toBe(true);
    expect(await handshake(httpsPort)).toBe(true);
    expect(await handshake(tlsPort)).toBe(false);
    expect(await handshake(httpsPort)).toBe(false);
    expect(service.counts.queries.droppedCounts()).toContainEqual([{ why: 'limited' }, 2]);
    clock.monotonicMs = 6000;
    expect(await handshake(httpsPort)).toBe(true);
  });

  it('share the limit of all connections', async () => {
    const { tlsPort, httpsPort, service } = await serve({ DNS_TCP_CONNECTIONS: 2 });
    expect(await handshake(tlsPort)).toBe(true);
    expect(await handshake(httpsPort)).toBe(true);
    expect(await handshake(tlsPort)).toBe(false);
    expect(service.counts.queries.droppedCounts()).toContainEqual([{ why: 'crowded' }, 1]);
  });

  it('share the connection limit with TCP', async () => {
    const { tlsPort, httpsPort, service } = await serve({ CLIENT_TCP_CONNECTIONS: 1 });
    const first = connectPlain(tlsPort, '127.0.0.1');
    cleanups.push(() => first.destroy());
    await new Promise((resolve) => first.once('connect', resolve));
    const second = connectPlain(httpsPort, '127.0.0.1');
    await new Promise((resolve) => second.once('close', resolve));
    expect(service.counts.queries.droppedCounts()).toContainEqual([{ why: 'crowded' }, 1]);
  });
});

describe('answers over HTTPS that a client does not read', () => {
  const dns = Buffer.from(blocked()).toString('base64url');
  const target = `/dns-query?dns=${dns}`;

  it('count until it gives up', async () => {
    const { httpsPort, service } = await serve();
    // Without room for a single byte of an answer.
    const session = connectHttp2(`https://127.0.0.1:${httpsPort}`, {
      ca,
      settings: { initialWindowSize: 0 },
    });
    cleanups.push(() => {
      session.destroy();
    });
    const requests = [1, 2, 3].map(() => session.request({ ':path': target }));
    await expect.poll(() => service.counts.unreadBytes).toBeGreaterThan(3 * blocked().length);
    for (const one of requests) one.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => service.counts.unreadBytes).toBe(0);
  });

  it.each(['h2', 'http/1.1'])('are none once they have been read (%s)', async (protocol) => {
    const { httpsPort, service } = await serve();
    const read =
      protocol === 'h2'
        ? await readWithHttp2(`https://127.0.0.1:${httpsPort}`, target)
        : await readWithHttp1(`https://127.0.0.1:${httpsPort}${target}`);
    expect(read).toBeGreaterThan(blocked().length);
    await expect.poll(() => service.counts.unreadBytes).toBe(0);
  });

  function readWithHttp2(origin: string, path: string) {
    const session = connectHttp2(origin, { ca });
    cleanups.push(() => {
      session.destroy();
    });
    return bytesOf(session.request({ ':path': path }));
  }

  function readWithHttp1(url: string) {
    return new Promise<number>((resolve, reject) => {
      const asking = request(url, { ca, headers: { connection: 'keep-alive' } }, (response) => {
        resolve(bytesOf(response));
      });
      asking.on('error', reject).end();
    });
  }

  async function bytesOf(stream: AsyncIterable<unknown>) {
    let bytes = 0;
    for await (const chunk of stream) bytes += (chunk as Buffer).length;
    return bytes;
  }
});
