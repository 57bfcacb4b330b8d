import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, startHarness, TOKEN } from '../../testing/harness.js';
import { sha256 } from '@weir/ops';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const NOT_AUTHENTICATED = { detail: 'Not authenticated' };

const entry = (name: string, scope: string, more = ''): string =>
  `- { name: ${name}, sha256: '${sha256(`token-of-${name}`).toString('hex')}', scope: ${scope}${more && `, ${more}`} }\n`;

const TOKENS = [
  entry('reader', 'read', 'expires: 2126-01-31T13:00:00+01:00'),
  entry('billing', 'write'),
  entry('sync', 'replace'),
  entry('old', 'replace', 'expires: 2020-01-01'),
  entry('office', 'write', 'sources: [192.0.2.0/24]'),
].join('');

describe('a call with a named token', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-tokens-'));
  const file = join(folder, 'tokens.yaml');
  let harness: Harness;
  const call = (
    name: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    harness.call(method, path, body, {
      Authorization: `Bearer token-of-${name}`,
      'X-Forwarded-For': '198.51.100.7',
      ...headers,
    });
  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const metrics = async () =>
    (await fetch(`http://127.0.0.1:${harness.controlPlane.opsPort}/metrics`)).text();
  const requestLines = () =>
    harness.logLines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request');

  beforeAll(async () => {
    writeFileSync(file, TOKENS);
    harness = await startHarness({
      MANAGEMENT_TOKENS_FILE: file,
      MANAGEMENT_TRUSTED_PROXIES: '127.0.0.1',
    });
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(folder, { recursive: true });
  });

  it('may do what its scope includes, and no more', async () => {
    const calls = [
      ['GET', '/blockpage/', undefined],
      ['POST', '/blockpage/', { id: 1, type: 0 }],
      ['DELETE', '/blockpage/1', undefined],
      ['POST', '/init/?dry_run=true', EMPTY],
      ['POST', '/init/?dry_run=false', EMPTY],
      ['POST', '/init/', EMPTY],
    ] as const;
    const seen: Record<string, unknown> = {};
    for (const name of ['reader', 'billing', 'sync']) {
      const answers = [];
      for (const [method, path, body] of calls) {
        answers.push((await call(name, method, path, body)).status);
      }
      seen[name] = answers;
    }
    expect(seen).toEqual({
      reader: [200, 403, 403, 200, 403, 403],
      billing: [200, 201, 204, 200, 403, 403],
      sync: [200, 201, 204, 200, 204, 204],
    });
    const refused = await call('billing', 'POST', '/init/', EMPTY);
    expect(refused.body).toEqual({ detail: 'This call needs a token with scope replace' });
    // Before the body is looked at.
    expect((await call('reader', 'POST', '/blockpage/', { id: 'x' })).status).toBe(403);
    expect((await call('reader', 'GET', '/nowhere')).status).toBe(404);
    expect((await harness.call('POST', '/init/', EMPTY, from('198.51.100.7'))).status).toBe(204);
  });

  it.each([
    ['/orders/', { id: 7, domain: 'a.example', authority: 'Court', reference: '1 A' }],
    ['/profile/1/grants', { domain: 'a.example', verdict: 'allow', minutes: 5 }],
  ])('may read %s with any scope, and change it with write', async (path, body) => {
    await call('billing', 'POST', '/profiles/', { profile: { id: 1 } });
    const made = await call('billing', 'POST', path, body);
    expect(made.status).toBe(201);
    const one = `${path.replace(/\/$/, '')}/${String((made.body as { id: number }).id)}`;
    for (const read of [path, one]) expect((await call('reader', 'GET', read)).status).toBe(200);
    const refused = [await call('reader', 'POST', path, body), await call('reader', 'DELETE', one)];
    if (path === '/orders/') refused.push(await call('reader', 'PATCH', one, {}));
    for (const { status } of refused) expect(status).toBe(403);
    expect((await call('billing', 'DELETE', one)).status).toBe(204);
  });

  it('is told what its token may do, from where and until when', async () => {
    const told = async (name: string, headers = {}) =>
      (await call(name, 'GET', '/token/', undefined, headers)).body as object;
    expect(await told('reader')).toEqual({
      name: 'reader',
      scope: 'read',
      sources: null,
      expires: '2126-01-31T12:00:00.000Z',
    });
    expect(await told('office', from('192.0.2.9'))).toEqual({
      name: 'office',
      scope: 'write',
      sources: ['192.0.2.0/24'],
      expires: null,
    });
    const own = await harness.call('GET', '/token', undefined, from('198.51.100.7'));
    expect(own.body).toEqual({ name: 'env-1', scope: 'replace', sources: null, expires: null });
  });

  it('is refused with an unknown query parameter, and its query is not logged', async () => {
    const answer = await call('reader', 'GET', '/token/?secret.example=1&x=hidden.example');
    expect([answer.status, faultsOf(answer)]).toEqual([
      422,
      ['query.secret.example: extra_forbidden', 'query.x: extra_forbidden'],
    ]);
    await expect
      .poll(() => requestLines().at(-1))
      .toMatchObject({ route: '/token/', status: 422, token: 'reader' });
    expect(harness.logLines.join('')).not.toMatch(/secret\.example|hidden\.example/);
  });

  it('gets one answer to every bad credential', async () => {
    for (const [name, address] of [
      ['nobody', '198.51.100.1'],
      ['old', '198.51.100.2'],
      ['office', '198.51.100.3'],
    ] as const) {
      const answer = await call(name, 'GET', '/blockpage/', undefined, from(address));
      expect([answer.status, answer.body]).toEqual([401, NOT_AUTHENTICATED]);
    }
    const inside = await call('office', 'GET', '/blockpage/', undefined, from('192.0.2.9'));
    expect(inside.status).toBe(200);
    expect(await metrics()).toMatch(/^weir_management_bad_credentials_total 3$/m);
    const reasons = harness.logLines.filter((line) => line.includes('bad credentials'));
    expect(reasons.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
      'unknown token',
      'token old has expired',
      'token office is not for this source',
    ]);
  });

  it('is answered while the answers to bad credentials of its source wait', async () => {
    const answers: number[] = [];
    const bad = Array.from({ length: 20 }, async () => {
      const answer = await call('nobody', 'GET', '/blockpage/', undefined, from('203.0.113.5'));
      answers.push(answer.status);
    });
    const good = await call('reader', 'GET', '/blockpage/', undefined, from('203.0.113.5'));
    expect(good.status).toBe(200);
    // The longest delays are seconds.
    expect(answers.length).toBeLessThan(20);
    await Promise.all(bad);
    expect(answers).toEqual(Array<number>(20).fill(401));
  });

  it('is logged with its name, its source and the revision', async () => {
    const answer = await call('billing', 'POST', '/blockpage/', { id: 7, type: 0 });
    await expect
      .poll(() => requestLines().at(-1))
      .toMatchObject({
        token: 'billing',
        source: '198.51.100.7',
        revision: Number(answer.headers.get('x-config-revision')),
        route: '/blockpage/',
      });
    await harness.call('GET', '/blockpage/', undefined, from('2001:DB8:0::7'));
    await expect
      .poll(() => requestLines().at(-1))
      .toMatchObject({ token: 'env-1', source: '2001:db8::7' });
    expect(harness.logLines.join('')).not.toContain('token-of-');
  });

  it('is accepted and refused as the file says now, and a bad file changes nothing', async () => {
    const status = async (name: string) => (await call(name, 'GET', '/blockpage/')).status;
    writeFileSync(file, TOKENS + entry('new', 'read'));
    await expect.poll(() => status('new'), { interval: 500 }).toBe(200);
    writeFileSync(file, '- name: nonsense\n');
    await expect.poll(metrics).toMatch(/^weir_management_tokens_file_faults_total [1-9]/m);
    expect([await status('new'), await status('reader')]).toEqual([200, 200]);
    expect(harness.logLines.join('')).toContain('token 1: sha256 must be');
    writeFileSync(file, entry('new', 'read'));
    await expect.poll(() => status('reader'), { interval: 500 }).toBe(401);
    expect(await status('new')).toBe(200);
    expect((await harness.call('GET', '/blockpage/')).status).toBe(200);
  });

  it('needs no token of the environment, but one of the two', async () => {
    const without = { MANAGEMENT_TOKENS: '', MANAGEMENT_TOKENS_FILE: '' };
    await expect(harness.startReplica(without)).rejects.toThrow('MANAGEMENT_TOKENS is required');
    writeFileSync(file, TOKENS);
    const replica = await harness.startReplica({ MANAGEMENT_TOKENS: '' });
    const status = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}` };
      const url = `http://127.0.0.1:${replica.managementPort}/blockpage/`;
      return (await fetch(url, { headers })).status;
    };
    expect([await status('token-of-reader'), await status(TOKEN)]).toEqual([200, 401]);
    await replica.stop();
  });

  it('does not start with a file that cannot be used', async () => {
    const bad = join(folder, 'bad.yaml');
    writeFileSync(bad, `- token: ${TOKEN}\n`);
    const start = harness.startReplica({ MANAGEMENT_TOKENS_FILE: bad });
    await expect(start).rejects.toThrow(`MANAGEMENT_TOKENS_FILE: ${bad}: token 1`);
    await expect(start).rejects.not.toThrow(TOKEN);
  });
});
