import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../testing/harness.js';

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));
const PAGES = ['', 'explain', 'resolvers', 'profiles/7', 'nothing/at/all', 'licences.md'];
/** Of all that a browser loads before it shows something, compressed. */
const MAX_FIRST_LOAD_BYTES = 150_000;

describe('/console/', () => {
  let harness: Harness;
  const get = (path: string, init?: RequestInit) => fetch(`${harness.baseUrl}${path}`, init);

  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.stop());

  it('answers every page with the same file, with a token, without one and with a wrong one', async () => {
    const texts = new Set<string>();
    const tokens = [undefined, harness.authorization.Authorization, 'Bearer wrong'];
    for (const path of ['/console', ...PAGES.map((page) => `/console/${page}`)]) {
      for (const token of tokens) {
        const response = await get(path, { headers: token ? { Authorization: token } : {} });
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(response.headers.get('cache-control')).toBe('no-cache');
        texts.add(await response.text());
      }
    }
    expect(texts.size).toBe(1);
    // A stranger learns neither a version nor anything of the deployment.
    const [text] = texts;
    expect(text).not.toMatch(/\d+\.\d+\.\d+|token-|UTC/);
  });

  it('forbids browsers to load, run, embed or send anything that is not the console’s', async () => {
    const { headers } = await get('/console/');
    expect(headers.get('content-security-policy')!.split('; ')).toEqual([
      "default-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "object-src 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  it('loads only files of its own, whose names change with what they hold, so that browsers keep them', async () => {
    const html = await (await get('/console/')).text();
    const paths = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path);
    expect(paths.length).toBeGreaterThanOrEqual(3);
    let bytes = Number((await get('/console/')).headers.get('content-length'));
    for (const path of paths) {
      expect(path).toMatch(/^\/console\/assets\/[\w-]+-[\w-]{8}\.(js|css|svg)$/);
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-encoding')).toBe('gzip');
      bytes += Number(response.headers.get('content-length'));
      const plain = await get(path, { headers: { 'Accept-Encoding': 'identity' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      const text = await plain.text();
      expect(text).toBe(await response.text());
      // Nor does a stranger learn where it was built.
      expect(text).not.toContain(ROOT);
    }
    expect(bytes).toBeLessThanOrEqual(MAX_FIRST_LOAD_BYTES);
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|style=/);
  });

  it('has no other files', async () => {
    for (const path of ['assets/nothing.js', 'assets/', 'assets/%2e%2e%2fpackage.json']) {
      const response = await get(`/console/${path}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('takes no method but GET, HEAD and OPTIONS', async () => {
    expect((await get('/console/', { method: 'POST' })).status).toBe(405);
    const options = await get('/console/resolvers', { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const head = await get('/console/', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('is unknown like any other path with MANAGEMENT_CONSOLE=false', async () => {
    const without = await startHarness({ MANAGEMENT_CONSOLE: 'false' });
    try {
      for (const path of ['/console', '/console/', '/console/assets/index.js']) {
        const url = `${without.baseUrl}${path}`;
        expect((await fetch(url)).status).toBe(401);
        expect((await fetch(url, { headers: without.authorization })).status).toBe(404);
      }
    } finally {
      await without.stop();
    }
  });

  it('is not shown to a source that is not approved', async () => {
    const closed = await startHarness({ MANAGEMENT_ALLOWED_SOURCES: '192.0.2.0/24' });
    try {
      expect((await fetch(`${closed.baseUrl}/console/`)).status).toBe(403);
    } finally {
      await closed.stop();
    }
  });

  it('finds out the time zone of schedules with a token only', async () => {
    const { headers } = await harness.call('GET', '/token/');
    expect(headers.get('x-schedule-timezone')).toBe('UTC');
    expect((await get('/token/')).headers.get('x-schedule-timezone')).toBeNull();
  });
});
