import { encodeQuery } from '@weir/dns-wire/testing';
import { policyOf } from '@weir/policy-feed/testing';
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { request } from 'node:https';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startHttps } from '../testing/listeners.js';
import { openHttp2, postHttp2 } from '../testing/secure-clients.js';
import { startService, useCertificate } from '../testing/service.js';

const certificate = useCertificate();
const QUERY = encodeQuery('nothing.invalid', 1);

const serve = (configuration: Parameters<typeof startService>[0] = {}) =>
  startService(
    { DNS_HTTPS_PORT: 0, ...certificate, ...configuration },
    { source: { policy: policyOf() } },
  );

function open(port: number): ClientHttp2Session {
  const session = openHttp2(port);
  session.on('error', () => undefined);
  onTestFinished(() => {
    session.destroy();
  });
  return session;
}

/** A request whose body has begun and does not end. */
function beginPost(session: ClientHttp2Session, headers: Record<string, string> = {}) {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/dns-query',
    'content-type': 'application/dns-message',
    ...headers,
  });
  stream.on('error', () => undefined);
  stream.write(QUERY.subarray(0, 10));
  return stream;
}

const statusOf = (stream: ClientHttp2Stream) =>
  new Promise<number | string>((resolve) => {
    // 'close' follows.
    stream.on('error', () => undefined);
    stream.once('response', ({ ':status': status = 0 }) => {
      resolve(status);
    });
    stream.once('close', () => {
      resolve(`reset ${stream.rstCode}`);
    });
  });

describe('memory of DNS over HTTPS', () => {
  it('refuses headers of more than 8 kB, and leaves other requests alone', async () => {
    const { httpsPort = 0 } = await serve();
    const session = open(httpsPort);
    const status = (bytes: number) =>
      statusOf(session.request({ ':path': '/none', 'x-large': 'a'.repeat(bytes) }));
    expect(await status(7_000)).toBe(404);
    expect(await status(9_000)).toBe(`reset ${constants.NGHTTP2_ENHANCE_YOUR_CALM}`);
    expect(await statusOf(postHttp2(session, QUERY))).toBe(200);
  });

  it('refuses headers of more than 8 kB over HTTP/1.1', async () => {
    const { httpsPort: port = 0 } = await serve();
    const status = (bytes: number) =>
      new Promise((resolve, reject) => {
        const headers = { 'x-large': 'a'.repeat(bytes) };
        const options = { port, path: '/none', headers, agent: false, rejectUnauthorized: false };
        request({ host: '127.0.0.1', ...options }, (response) => {
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await status(7_000)).toBe(404);
    expect(await status(9_000)).toBe(431);
  });

  it('resets a request that is not over after ten seconds, whatever else its connection asks', async () => {
    const { port, unreadBytes } = await startHttps(certificate);
    const session = open(port);
    expect(await statusOf(postHttp2(session, QUERY))).toBe(200);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const unfinished = beginPost(session);
    const ending = statusOf(unfinished);
    expect(await statusOf(postHttp2(session, QUERY))).toBe(200);
    vi.advanceTimersByTime(9_999);
    expect(await statusOf(postHttp2(session, QUERY))).toBe(200);
    expect(unfinished.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await ending).toBe(`reset ${constants.NGHTTP2_CANCEL}`);
    expect(await statusOf(postHttp2(session, QUERY))).toBe(200);
    expect(unreadBytes()).toBeLessThan(10_000);
  });

  it('counts unfinished requests, and closes the connection with the most when they are too many', async () => {
    const { httpsPort = 0, service } = await serve({ DNS_TCP_UNREAD_MB: 1 });
    const neighbour = open(httpsPort);
    beginPost(neighbour);
    await expect.poll(() => service.counts.unreadBytes).toBeGreaterThan(1_500);
    const closed: number[] = [];
    const sessions = Array.from({ length: 4 }, (_, i) => {
      const session = open(httpsPort);
      session.once('close', () => closed.push(i));
      return session;
    });
    for (let n = 0; n < 60; n++) {
      for (const session of sessions) {
        if (!session.destroyed) beginPost(session, { 'x-large': 'a'.repeat(7_000) });
      }
    }
    await expect.poll(() => closed.length).toBeGreaterThan(0);
    expect(service.counts.unreadBytes).toBeLessThanOrEqual(2 ** 20);
    expect(await statusOf(postHttp2(neighbour, QUERY))).toBe(200);
  });

  it('forgets what a connection held as soon as its client closes it', async () => {
    const { httpsPort = 0, service } = await serve();
    const session = open(httpsPort);
    for (let n = 0; n < 20; n++) beginPost(session);
    await expect.poll(() => service.counts.unreadBytes).toBeGreaterThan(20 * 1_500);
    session.destroy();
    await expect.poll(() => service.counts.unreadBytes).toBe(0);
  });

  it('ends a request that it refuses, although its body does not end', async () => {
    const { httpsPort = 0, service } = await serve();
    const session = open(httpsPort);
    const refused = beginPost(session, { 'content-type': 'text/plain' });
    expect(await statusOf(refused)).toBe(415);
    refused.resume();
    await expect.poll(() => refused.closed).toBe(true);
    await expect.poll(() => service.counts.unreadBytes).toBe(0);
    expect(session.closed).toBe(false);
  });

  it('closes a connection of HTTP/1.1 whose request is not over after ten seconds', async () => {
    const { port } = await startHttps(certificate);
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(
      'POST /dns-query HTTP/1.1\r\nHost: dns.example.com\r\n' +
        'Content-Type: application/dns-message\r\nContent-Length: 40\r\n\r\nx',
    );
    await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0);
    vi.advanceTimersByTime(10_000);
    await closed;
  });
});
