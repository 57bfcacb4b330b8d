import { domainRule, loopback, profile, put } from '@weir/policy-feed/testing';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ask, useSurroundings } from '../testing/running-page.js';

const around = useSurroundings();
let content: string;

beforeEach(async () => {
  content = mkdtempSync(join(tmpdir(), 'weir-content-'));
  around.cleanups.push(() => {
    rmSync(content, { recursive: true });
  });
  await around.plane.commit(
    put('blockPage', { id: 7, type: 1 }),
    profile(1, { pageId: 7 }),
    loopback(1),
    domainRule(1, 'deny', 'blocked.example'),
  );
});

function write(path: string, text: string): void {
  const file = join(content, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

describe('a custom block page', () => {
  it('has escaped values, and may use only its own files', async () => {
    write(
      '7/index.html',
      '<p lang={{language}}>{{name}}: {{ reason }} ({{reason_code}}) {{nothing}}',
    );
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    const answer = await ask(page);
    expect(answer.status).toBe(403);
    expect(answer.body).toBe(
      '<p lang=en>blocked.example: Your list of blocked sites (list) {{nothing}}',
    );
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("img-src 'self' data:");
    expect(policy).not.toContain('script');
  });

  it('has an incident number where its content asks for one, and there is a key', async () => {
    write('7/index.html', 'incident: {{incident}}');
    const variables = { BLOCK_PAGE_CONTENT: content };
    const INCIDENT_KEYS = '000102030405060708090a0b0c0d0e0f';
    const page = await around.start({ ...variables, INCIDENT_KEYS });
    expect((await ask(page)).body).toMatch(/^incident: [\w-]{60,}$/);
    expect((await ask(await around.start(variables))).body).toBe('incident: ');
  });

  it('is shown with the next request after the type of the block page or the page of the profile changes', async () => {
    write('7/index.html', 'custom');
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    expect((await ask(page)).body).toBe('custom');
    await around.plane.commit(put('blockPage', { id: 7, type: 0 }));
    await expect.poll(async () => (await ask(page)).body).toContain('<!doctype html>');
    await around.plane.commit(put('blockPage', { id: 7, type: 1 }));
    await expect.poll(async () => (await ask(page)).body).toBe('custom');
    await around.plane.commit(profile(1));
    await expect.poll(async () => (await ask(page)).body).toContain('<!doctype html>');
  });

  it('is read again when it changes, and the built-in page is shown while it is missing', async () => {
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    expect((await ask(page)).body).toContain('This site is blocked');
    const metrics = async () => (await fetch(`http://127.0.0.1:${page.opsPort}/metrics`)).text();
    expect(await metrics()).toContain('weir_block_page_content_missing{page_id="7"} 1');
    write('7/index.html', 'first');
    await expect.poll(async () => (await ask(page)).body).toBe('first');
    expect(await metrics()).not.toContain('weir_block_page_content_missing{');
    write('7/index.html', 'second');
    await expect.poll(async () => (await ask(page)).body).toBe('second');
    rmSync(join(content, '7'), { recursive: true });
    await expect.poll(async () => (await ask(page)).body).toContain('This site is blocked');
  });

  it('serves its files, and nothing else, under the path of {{assets}}', async () => {
    write('7/index.html', '<img src="{{assets}}/img/logo.svg">');
    write('7/img/logo.svg', '<svg/>');
    write('8/other.txt', 'other');
    write('secret.txt', 'secret');
    write('7/.hidden', 'hidden');
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    expect((await ask(page)).body).toBe('<img src="/__assets/7/img/logo.svg">');
    const image = { Accept: 'image/*' };
    const file = await ask(page, { path: '/__assets/7/img/logo.svg?v=1', headers: image });
    expect(file).toMatchObject({
      status: 200,
      body: '<svg/>',
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-store' },
    });
    // Opened by itself it is a document without scripts and of no origin.
    expect(file.headers['content-security-policy']).toMatch(/^default-src 'none'; .*; sandbox$/);
    for (const path of [
      '/__assets/7/index.html',
      '/__assets/7/%69ndex.html',
      '/__assets/7/../secret.txt',
      '/__assets/7/%2e%2e/secret.txt',
      '/__assets/7/..%2fsecret.txt',
      '/__assets/7/.hidden',
      '/__assets/7/img',
      '/__assets/7/img/',
      '/__assets/7/%00',
      '/__assets/7/%zz',
      '/__assets/7/missing.png',
      '/__assets/07/img/logo.svg',
      '/__assets/../secret.txt',
      '/__assets/',
    ]) {
      const answer = await ask(page, { path, headers: image });
      expect([path, answer.status, answer.body]).toEqual([path, 404, '']);
    }
    const posted = await ask(page, { path: '/__assets/7/img/logo.svg', method: 'POST' });
    expect(posted.status).toBe(403);
  });

  it('may be a symbolic link to another folder, as in mounted ConfigMaps', async () => {
    write('..data/index.html', 'linked');
    symlinkSync('..data', join(content, '7'));
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    expect((await ask(page)).body).toBe('linked');
  });

  it('is refused when it is too large or not a file', async () => {
    write('7/index.html', 'x'.repeat(1024 * 1024 + 1));
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    expect((await ask(page)).body).toContain('This site is blocked');
    rmSync(join(content, '7/index.html'));
    execFileSync('mkfifo', [join(content, '7/index.html')]);
    expect((await ask(page)).body).toContain('This site is blocked');
    rmSync(join(content, '7/index.html'));
    write('7/index.html', 'sound');
    await expect.poll(async () => (await ask(page)).body).toBe('sound');
  });

  it('leaves no file open, even after many requests on one connection', async () => {
    write('7/style.css', 'p{}'.repeat(100_000));
    const page = await around.start({ BLOCK_PAGE_CONTENT: content, BLOCK_PAGE_CLIENT_RATE: '0' });
    const request = 'GET /__assets/7/style.css HTTP/1.1\r\nHost: blocked.example\r\n\r\n';
    const openFiles = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(content);
        } catch {
          return false; // closed meanwhile
        }
      }).length;
    for (let i = 0; i < 5; i++) {
      await new Promise<void>((resolve) => {
        const socket = connect(page.port, '127.0.0.1', () => socket.write(request.repeat(40)));
        socket.on('error', () => undefined).on('close', resolve);
        // Some leave before they have read anything.
        if (i % 2 === 0) setTimeout(() => socket.destroy(), 50);
        else socket.resume();
      });
    }
    await expect.poll(openFiles).toBe(0);
    expect((await ask(page, { path: '/__assets/7/style.css' })).status).toBe(200);
  });

  it('is reported as missing once, as long as the configuration has it', async () => {
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    const metrics = async () => (await fetch(`http://127.0.0.1:${page.opsPort}/metrics`)).text();
    await Promise.all(Array.from({ length: 20 }, () => ask(page)));
    expect(await metrics()).toContain('content_missing{page_id="7"} 1');
    await fetch(`http://127.0.0.1:${page.opsPort}/__preview/12345`);
    expect(await metrics()).not.toContain('page_id="12345"');
    await around.plane.commit(profile(1), { type: 'delete', kind: 'blockPage', key: { id: 7 } });
    await expect.poll(metrics).not.toContain('content_missing{');
  });
});

describe('the preview', () => {
  it('shows every page to staff, in any language and for any reason', async () => {
    write('9/index.html', '{{page_id}} {{reason_code}} {{language}} {{category}} {{next_switch}}');
    const page = await around.start({ BLOCK_PAGE_CONTENT: content });
    const preview = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${page.opsPort}/__preview/${path}`);
      return [response.status, await response.text()] as const;
    };
    expect(await preview('9?reason=category&lang=tr')).toEqual([
      200,
      '9 category tr Example category ',
    ]);
    expect((await preview('9?schedule=until'))[1]).toMatch(/\d\d:\d\d/);
    expect((await preview('default?lang=fr'))[1]).toContain('Ce site est bloqué');
    expect((await preview('default?reason=not_blocked'))[1]).toContain('is not blocked');
    expect((await preview('7'))[1]).toContain('This site is blocked');
    expect((await preview('default?reason=order'))[1]).toContain('Example Regulator');
    expect((await preview('default?reason=secret'))[1]).not.toContain('www.blocked.example');
    expect((await preview('default?reason=mandatory'))[1]).toContain('blocked for everybody');
    expect((await preview('default?reason=toString'))[0]).toBe(400);
    expect((await preview('default?reason=weather'))[0]).toBe(400);
    expect(await preview('default?lang=xx')).toEqual([
      400,
      'lang must be one of en, de, fr, es, pt, it, pl, ru, tr, ar\n',
    ]);
    expect((await preview('default?schedule=never'))[0]).toBe(400);
    expect((await preview('x'))[0]).toBe(404);
    const { status } = await ask({ port: page.opsPort }, { path: '//' });
    expect(status).toBe(404);
  });
});
