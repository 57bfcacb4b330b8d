import { proxyHeader } from '@weir/clients/testing';
import { domainRule, loopback, profile, put } from '@weir/policy-feed/testing';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { BlockPage } from '../block-page.js';
import { ask, useSurroundings } from '../testing/running-page.js';

const around = useSurroundings();
/** 192.0.2.7 */
const SUBSCRIBER = 0xc000_0207;

async function metric(page: BlockPage, line: RegExp) {
  const text = await (await fetch(`http://127.0.0.1:${page.opsPort}/metrics`)).text();
  return Number(line.exec(text)?.[1] ?? Number.NaN);
}

/** Sends bytes as they are. @returns all that comes back until the connection ends. */
function send(page: BlockPage, ...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(page.port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.on('data', (bytes) => (received += bytes.toString()));
    socket
      .on('error', () => undefined)
      .on('close', () => {
        resolve(received);
      });
  });
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: blocked.example\r\nAccept: text/html\r\n\r\n';
const status = (answer: string) => answer.split(' ', 2)[1];

describe('a request that asks for no page', () => {
  it.each([
    ['an image', { headers: { Accept: 'image/avif,image/webp,*/*;q=0.8' } }],
    ['a script of a browser', { headers: { Accept: '*/*', 'User-Agent': 'Mozilla/5.0 (X)' } }],
    ['data', { headers: { Accept: 'application/json' } }],
    ['an embedded page', { headers: { Accept: 'text/html', 'Sec-Fetch-Dest': 'iframe' } }],
    ['a POST', { method: 'POST', headers: { Accept: 'text/html' } }],
    ['an OPTIONS', { method: 'OPTIONS', headers: { Accept: 'text/html' } }],
  ])('gets 403 without a body: %s', async (_what, asked) => {
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
    const page = await around.start();
    const answer = await ask(page, asked);
    expect([answer.status, answer.body, answer.headers['content-length']]).toEqual([403, '', '0']);
  });
});

describe('every answer', () => {
  it('forbids caching and scripts, and closes the connection, so that the browser asks DNS again', async () => {
    const page = await around.start();
    const { headers } = await ask(page, { headers: { Accept: 'text/html' } });
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      connection: 'close',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]),
    );
    expect(policy.find((directive) => directive.startsWith('sandbox'))).not.toContain('allow-s');
  });

  it('has no body for HEAD', async () => {
    const page = await around.start();
    const answer = await ask(page, { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([404, '']);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(500);
  });

  it('repeats nothing of the request except a valid name in the Host header', async () => {
    await around.plane.commit(profile(1, { whiteListOnly: true }), loopback(1));
    const page = await around.start();
    const marker = 'zqx<script>alert(1)</script>';
    const answer = await ask(page, {
      host: 'blocked.example',
      path: `/${encodeURIComponent(marker)}?a=${encodeURIComponent(marker)}`,
      headers: { 'Accept-Language': marker, Referer: marker, Cookie: marker, 'User-Agent': marker },
    });
    expect(answer.status).toBe(403);
    expect(answer.body + JSON.stringify(answer.headers)).not.toContain('zqx');
    const evil = await ask(page, { host: 'zqx"><script>alert(1)</script>.example' });
    expect(evil.body).not.toContain('zqx');
    expect(evil.headers.location).toBeUndefined();
  });
});

describe('the visitor', () => {
  it('is identified by the source port on a shared address', async () => {
    const range = (lowerPort: number, upperPort: number, profileId: number) =>
      put('naptAssignment', { address: SUBSCRIBER, lowerPort, upperPort, profileId });
    await around.plane.commit(
      profile(1),
      profile(2),
      range(1000, 1999, 1),
      range(2000, 2999, 2),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const page = await around.start({ BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.1' });
    const from = async (forwarded: string) =>
      (await ask(page, { headers: { 'X-Forwarded-For': forwarded } })).status;
    expect(await from('192.0.2.7:1500')).toBe(403);
    expect(await from('192.0.2.7:2500')).toBe(404);
    // The port is not known: it may be either subscriber.
    expect(await from('192.0.2.7')).toBe(404);
    await around.plane.commit(
      put('naptAssignment', { address: 0xc000_0208, lowerPort: 0, upperPort: 65535, profileId: 1 }),
    );
    await expect.poll(() => from('192.0.2.8')).toBe(403);
  });

  it('is named by PROXY protocol or X-Forwarded-For only if the proxy is trusted', async () => {
    await around.plane.commit(
      profile(1),
      put('ipv4Network', { address: SUBSCRIBER, prefixLength: 32, profileId: 1 }),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const header = proxyHeader({ source: 'c0000207', port: 4000 });
    const forwarded = REQUEST.replace('\r\n\r\n', '\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n');
    const trusting = await around.start({ BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.0/8' });
    expect(status(await send(trusting, header, REQUEST))).toBe('403');
    expect(status(await send(trusting, forwarded))).toBe('403');
    expect(status(await send(trusting, REQUEST))).toBe('404');
    const spoofed = forwarded.replace('192.0.2.7', '192.0.2.7, 192.0.2.9');
    expect(status(await send(trusting, spoofed))).toBe('404');
    const nonsense = forwarded.replace('192.0.2.7', 'unknown');
    expect(status(await send(trusting, nonsense))).toBe('400');

    const other = await around.start();
    expect(status(await send(other, header, REQUEST))).toBe('400');
    expect(status(await send(other, forwarded))).toBe('404');
  });
});

describe('limits', () => {
  it('apply to the size of headers', async () => {
    const page = await around.start();
    const cookies = (bytes: number) =>
      send(page, REQUEST.replace('\r\n\r\n', `\r\nCookie: a=${'x'.repeat(bytes)}\r\n\r\n`));
    expect(status(await cookies(30_000))).toBe('404');
    expect(status(await cookies(40_000))).toBe('431');
    expect(await metric(page, /refusals_total\{why="malformed"\} (\d+)/)).toBe(1);
  });

  it('apply to the requests per second of one subscriber, and not to others', async () => {
    await around.plane.commit(profile(1), loopback(1));
    const page = await around.start({
      BLOCK_PAGE_CLIENT_RATE: '5',
      BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.1',
    });
    const from = (address: string) => ask(page, { headers: { 'X-Forwarded-For': address } });
    const refusedOf30 = async () => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => from('192.0.2.1')));
      return answers.filter((answer) => answer.status === 429);
    };
    let refused: Awaited<ReturnType<typeof refusedOf30>> = [];
    // On a machine that stalls they may fall into so many seconds that none is refused.
    await expect.poll(async () => (refused = await refusedOf30()).length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ body: '', headers: { 'retry-after': '1' } });
    expect((await from('192.0.2.2')).status).toBe(404);
  });

  it('apply to the connections of one subscriber', async () => {
    const page = await around.start({ BLOCK_PAGE_CLIENT_CONNECTIONS: '2' });
    const held = [connect(page.port, '127.0.0.1'), connect(page.port, '127.0.0.1')];
    await expect.poll(() => metric(page, /^weir_block_page_connections (\d+)$/m)).toBe(2);
    expect(await send(page, REQUEST)).toBe('');
    expect(await metric(page, /refusals_total\{why="crowded"\} (\d+)/)).toBe(1);
    for (const socket of held) socket.destroy();
    await expect.poll(async () => status(await send(page, REQUEST))).toBe('404');
  });

  it('leave strangers a small part of the connections, so that a subscriber gets the page', async () => {
    await around.plane.commit(profile(1), loopback(1));
    const page = await around.start({
      BLOCK_PAGE_CONNECTIONS: '32',
      BLOCK_PAGE_CLIENT_CONNECTIONS: '4',
    });
    for (let n = 0; n < 64; n++) {
      const localAddress = `127.9.0.${1 + (n >> 2)}`;
      const socket = connect({ port: page.port, host: '127.0.0.1', localAddress });
      around.cleanups.push(() => socket.destroy());
      socket.on('error', () => socket.destroy());
      await new Promise((resolve) => socket.once('connect', resolve));
    }
    expect(status(await send(page, REQUEST))).toBe('404');
    // When the machine stalls for seconds, those that were admitted are closed, and others take their places.
    const open = () => metric(page, /^weir_block_page_connections (\d+)$/m);
    await expect.poll(open).toBeLessThanOrEqual(4);
    expect(await metric(page, /refusals_total\{why="crowded"\} (\d+)/)).toBeGreaterThan(40);
  });

  it('apply to the time that a request may take to arrive', async () => {
    const page = await around.start();
    expect(status(await send(page, 'GET / HTTP/1.1\r\nHost: a'))).toBe('408');
  });
});

describe('an unusual request', () => {
  it('gets the page for requests without a name if Host is missing; an Expect header changes nothing', async () => {
    await around.plane.commit(profile(1), loopback(1), domainRule(1, 'deny', 'blocked.example'));
    const page = await around.start();
    for (const version of ['1.0', '1.1']) {
      const answer = await send(page, `GET / HTTP/${version}\r\nAccept: text/html\r\n\r\n`);
      expect(answer).toContain('This is the page for blocked sites');
    }
    const expecting = await send(page, REQUEST.replace('\r\n\r\n', '\r\nExpect: x\r\n\r\n'));
    expect(expecting).toMatch(/^HTTP\/1\.1 403 [^]*Connection: close/);
  });

  it('closes the connection even if more was sent after it', async () => {
    const page = await around.start();
    const answers = await send(page, REQUEST.repeat(20));
    expect(answers.match(/^HTTP\/1\.1/gm)).toHaveLength(1);
  });

  it('gets an answer that forbids caching, with its date, if it is not HTTP', async () => {
    const page = await around.start();
    const answer = await send(page, '\x16\x03\x01\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*no-store/);
    expect(answer).toMatch(/^Date: .* GMT\r$/m);
  });

  it('gets 400 if it has two Host fields (RFC 9112 §3.2)', async () => {
    const page = await around.start();
    const twice = REQUEST.replace('\r\nHost', '\r\nHost: other.example\r\nHost');
    expect(await send(page, twice)).toMatch(/^HTTP\/1\.1 400 [^]*no-store/);
    expect(await metric(page, /refusals_total\{why="malformed"\} (\d+)/)).toBe(1);
  });
});

describe('a stop', () => {
  it('does not wait for a proxy that has not sent its header', async () => {
    const page = await around.start({ BLOCK_PAGE_TRUSTED_PROXIES: '127.0.0.1' });
    const socket = connect(page.port, '127.0.0.1', () => socket.write('\r\n\r\n'));
    const closed = new Promise((resolve) =>
      socket.on('error', () => undefined).on('close', resolve),
    );
    await expect.poll(() => metric(page, /^weir_block_page_connections (\d+)$/m)).toBe(1);
    await page.stop();
    await closed;
  });
});

describe('HTTPS', () => {
  it('is refused at once if its port is configured', async () => {
    const page = await around.start({ BLOCK_PAGE_HTTPS_PORT: '0' });
    const code = await new Promise<string>((resolve) => {
      const socket = connect(page.httpsPort!, '127.0.0.1', () => socket.write('\x16\x03\x01'));
      socket.on('error', (error: NodeJS.ErrnoException) => {
        resolve(error.code ?? '');
      });
      socket.on('end', () => {
        resolve('ended');
      });
    });
    expect(code).toMatch(/^(ECONNRESET|EPIPE)$/);
  });
});
