import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { openLocation } from './open-source.js';
import type { OpenedSource, OpenOptions } from './source.js';

const LIMITS = { maxBytes: 1000, timeoutMs: 60_000 };
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function get(host: string, options: Partial<OpenOptions> = {}): Promise<OpenedSource> {
  return openLocation({ url: `http://${host}/list` }, { ...LIMITS, ...options });
}

async function read(opened: OpenedSource): Promise<string> {
  if (opened.status === 'unchanged') throw new Error('unchanged');
  return Buffer.concat(await Array.fromAsync(opened.body)).toString();
}

describe('openSource of a URL', () => {
  it('reads a list once, and then sends conditional requests', async () => {
    const asked: (string | undefined)[][] = [];
    const host = await serve((request, response) => {
      const { 'if-none-match': etag, 'if-modified-since': since } = request.headers;
      asked.push([etag, since]);
      response.setHeader('etag', '"v1"');
      response.setHeader('last-modified', 'Sat, 21 Nov 2026 12:00:00 GMT');
      if (etag === '"v1"') response.writeHead(304).end();
      else response.end('a.example\n');
    });
    const first = await get(host);
    expect(first).toMatchObject({ etag: '"v1"', lastModified: 'Sat, 21 Nov 2026 12:00:00 GMT' });
    expect(await read(first)).toBe('a.example\n');
    const { etag, lastModified } = first as { etag: string; lastModified: string };
    expect(await get(host, { etag, lastModified })).toEqual({ status: 'unchanged' });
    expect(asked).toEqual([
      [undefined, undefined],
      ['"v1"', 'Sat, 21 Nov 2026 12:00:00 GMT'],
    ]);
  });

  it('refuses credentials with a percent sign that stands for nothing', async () => {
    const host = await serve((_, response) => response.end('a.example\n'));
    await expect(get(`user:100%@${host}`)).rejects.toThrow(
      'has credentials in which a % is not written as %25',
    );
  });

  it('sends the credentials of the URL, but not to another host after a redirect', async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end('a.example\n');
    });
    const host = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { location: `http://${other}/moved` }).end();
    });
    expect(await read(await get(`me:p%40ss@${host}`))).toBe('a.example\n');
    expect(seen).toEqual([`Basic ${Buffer.from('me:p@ss').toString('base64')}`, undefined]);
  });

  it('asks for plain content, and decodes it where a server encodes it all the same', async () => {
    const host = await serve((request, response) => {
      const wanted = `${request.headers['accept-encoding']}.example\n`;
      response.setHeader('content-encoding', 'gzip').end(gzipSync(wanted));
    });
    expect(await read(await get(host))).toBe('identity.example\n');
  });

  it.each([
    [404, /^answered 404 Not Found$/],
    [500, /^answered 500 Internal Server Error$/],
    [204, /^answered 204 No Content$/],
    [401, /^answered 401 Unauthorized$/],
  ])('refuses the answer %i', async (status, message) => {
    const host = await serve((_, response) => response.writeHead(status).end());
    const failure = await get(`me:secret@${host}`).catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toContain('secret');
  });

  it('gives up after too many redirects', async () => {
    const host = await serve((_, response) => response.writeHead(302, { location: '/list' }).end());
    await expect(get(host)).rejects.toThrow(/^redirects more than 20 times$/);
  });

  it('refuses a redirect to another protocol', async () => {
    const host = await serve((_, response) =>
      response.writeHead(302, { location: 'file:///etc/hosts' }).end(),
    );
    await expect(get(host)).rejects.toThrow(/^redirects to what is no http or https URL$/);
  });

  it('refuses a redirect to another host without https, unless the list is pinned', async () => {
    const host = await serve((_, response) =>
      response.writeHead(302, { location: 'http://other.example:1/list' }).end(),
    );
    await expect(get(host)).rejects.toThrow(/^redirects to a URL without https$/);
    await expect(get(host, { isPinned: true })).rejects.toThrow(/^cannot be reached: bad port$/);
  });

  it('throws an error with the reason when nobody listens', async () => {
    const host = await serve(() => undefined);
    await new Promise((resolve) => servers[0].close(resolve));
    await expect(get(host)).rejects.toThrow(/^cannot be reached: ECONNREFUSED$/);
  });

  it('refuses an incomplete body', async () => {
    const host = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('a.example\n', () => response.destroy());
    });
    await expect(get(host).then(read)).rejects.toThrow(/^broke off: /);
    const chunked = await serve((_, response) => {
      response.write('a.example\n', () => response.destroy());
    });
    await expect(get(chunked).then(read)).rejects.toThrow(/^broke off: /);
  });

  it('refuses a body larger than the limit, announced or not', async () => {
    const host = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 1001 }).end('x'.repeat(1001));
    });
    await expect(get(host)).rejects.toThrow(/^is larger than 1000 bytes$/);
    const endless = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(100)), 1);
      response.on('close', () => clearInterval(timer));
    });
    await expect(get(endless).then(read)).rejects.toThrow(/^is larger than 1000 bytes$/);
  });

  it('gives up when the server sends nothing, before or within its answer', async () => {
    const silent = await serve(() => undefined);
    await expect(get(silent, { idleTimeoutMs: 50 })).rejects.toThrow(
      /^sent nothing within 0\.05 s$/,
    );
    const stuck = await serve((_, response) => void response.write('a.example\n'));
    await expect(get(stuck, { idleTimeoutMs: 50 }).then(read)).rejects.toThrow(
      /^sent nothing within 0\.05 s$/,
    );
  });

  it('gives up at the total timeout even if the server keeps sending', async () => {
    const slow = await serve((_, response) => {
      const timer = setInterval(() => response.write('a\n'), 10);
      response.on('close', () => clearInterval(timer));
    });
    await expect(get(slow, { timeoutMs: 200 }).then(read)).rejects.toThrow(
      /^did not end within 0\.2 s$/,
    );
  });

  it('stops when its caller aborts', async () => {
    const silent = await serve(() => undefined);
    const controller = new AbortController();
    const opened = get(silent, { signal: controller.signal });
    controller.abort(new Error('the process stops'));
    await expect(opened).rejects.toThrow('the process stops');
  });

  it('closes the connection when the body is not read to its end', async () => {
    let close: () => void;
    const closed = new Promise<void>((resolve) => (close = resolve));
    const host = await serve((_, response) => {
      response.on('close', () => close());
      response.write('a.example\n');
    });
    const opened = await get(host);
    if (opened.status === 'opened') {
      const chunks = opened.body[Symbol.asyncIterator]();
      await chunks.next();
      await chunks.return?.();
    }
    await closed;
  });
});
