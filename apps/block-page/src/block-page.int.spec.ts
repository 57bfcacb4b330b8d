import { domainRule, loopback, profile } from '@weir/policy-feed/testing';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { activateCatalogue, ask, useSurroundings } from './testing/running-page.js';

const around = useSurroundings();
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = join(ROOT, 'apps/block-page/dist/main.js');
const get = async (port: number, path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return [response.status, await response.text()];
};

describe('a block page', () => {
  it('is ready once it has a configuration and a catalogue', async () => {
    const page = await around.start({ FEED_URL: 'http://127.0.0.1:2' }, { isReady: false });
    expect(await get(page.opsPort, '/livez')).toEqual([200, 'ok\n']);
    expect(await get(page.opsPort, '/readyz')).toEqual([503, 'no configuration yet\n']);
    await around.plane.commit(profile(1));
    const second = await around.start();
    expect(await get(second.opsPort, '/readyz')).toEqual([503, 'no catalogue yet\n']);
    await around.plane.commit(activateCatalogue(around.plane));
    await expect.poll(() => get(second.opsPort, '/readyz')).toEqual([200, 'ok\n']);
    expect((await get(second.opsPort, '/metrics'))[1]).toContain('weir_block_page_revision 2');
  });

  it('serves health at its own address, and is not ready while it drains and still answers', async () => {
    const page = await around.start({ OPS_HOST: '127.0.0.2' });
    const readiness = async () => {
      const response = await fetch(`http://127.0.0.2:${page.opsPort}/readyz`);
      return [response.status, await response.text()];
    };
    expect(await readiness()).toEqual([503, 'no catalogue yet\n']);
    // What listens on all addresses listens on this one too, which no other test uses.
    const elsewhere = fetch(`http://127.0.0.4:${page.opsPort}/livez`);
    await expect(elsewhere).rejects.toThrow('fetch failed');
    await around.plane.commit(activateCatalogue(around.plane), profile(1), loopback(1));
    await expect.poll(readiness).toEqual([200, 'ok\n']);
    page.drain();
    expect(await readiness()).toEqual([503, 'stopping\n']);
    expect((await ask(page)).status).toBe(404);
  });

  it('delays no change', async () => {
    await around.start();
    expect(await around.plane.commit(profile(1))).toEqual({ applied: 0, total: 0 });
  });

  it('starts from its own disk when nothing can be reached', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-block-page-'));
    around.cleanups.unshift(() => {
      rmSync(folder, { recursive: true });
    });
    await around.plane.commit(
      activateCatalogue(around.plane),
      profile(1),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
    );
    const first = await around.start({ DATA_DIR: folder });
    expect((await ask(first)).status).toBe(403);
    // A disk that is late is tried again after a minute at most.
    await expect
      .poll(() => readdirSync(folder), { timeout: 150_000 })
      .toEqual(expect.arrayContaining(['configuration', expect.stringMatching(/^catalogue-/)]));
    await first.stop();
    const nowhere = { FEED_URL: 'http://127.0.0.1:2', REDIS_URL: 'redis://127.0.0.1:1' };
    const again = await around.start({ DATA_DIR: folder, ...nowhere }, { isReady: false });
    await expect.poll(() => get(again.opsPort, '/readyz')).toEqual([200, 'ok\n']);
    expect((await ask(again)).status).toBe(403);
  });

  it('reports the port that is in use, and closes its other listeners', async () => {
    const page = await around.start();
    const taken = around.start({ OPS_PORT: String(page.opsPort) });
    await expect(taken).rejects.toThrow(/is in use by another process \(OPS_PORT\)/);
    const alsoTaken = around.start({ BLOCK_PAGE_PORT: String(page.port) });
    await expect(alsoTaken).rejects.toThrow(/\(BLOCK_PAGE_PORT\)/);
  });

  it('exits with one line when the logo cannot be read', async () => {
    const started = around.start({ BLOCK_PAGE_BRAND_LOGO: '/nowhere/logo.png' });
    await expect(started).rejects.toThrow(
      'BLOCK_PAGE_BRAND_LOGO names a file that cannot be read: /nowhere/logo.png (ENOENT)',
    );
  });

  it.each(['BLOCK_PAGE_BRAND_LOGO', 'FEED_TOKENS_FILE', 'FEED_CA'])(
    'refuses a %s that cannot be read with --check as well',
    async (variable) => {
      const env = {
        REDIS_URL: 'redis://127.0.0.1:1',
        FEED_URL: 'https://127.0.0.1:2',
        FEED_TOKENS: 'token-of-the-feed-1',
        DOMAIN_HASH_KEY: '00112233445566778899aabbccddeeff',
      };
      const check = (more: object) =>
        promisify(execFile)(process.execPath, [MAIN, '--check'], { env: { ...env, ...more } });
      expect(await check({})).toEqual({ stdout: '', stderr: '' });
      await expect(check({ [variable]: '/nowhere/logo.png' })).rejects.toMatchObject({
        code: 1,
        stderr: `block-page: ${variable} names a file that cannot be read: /nowhere/logo.png (ENOENT)\n`,
      });
    },
  );

  it('explains its variables with --help', async () => {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [MAIN, '--help']);
    expect(stdout).toContain('BLOCK_PAGE_BRAND_COLOR');
    const refused = run(process.execPath, [MAIN, '--check'], { env: { BLOCK_PAGE_PORT: 'x' } });
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('block-page: BLOCK_PAGE_PORT must be a port number'),
    });
  });
});
