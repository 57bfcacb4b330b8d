import { hashDomain, parseHashKey } from '@weir/dns-name';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, HASH_KEY, type Harness, startHarness } from '../../testing/harness.js';
import { rawRequest } from '../../testing/raw-request.js';

const ALLOW = 1;
const DENY = 2;

describe('domain lists', () => {
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const stored = (normalised: string, cat_id: number) => ({
    profile_id: 1,
    domain_hash: hashDomain(normalised, parseHashKey(HASH_KEY)),
    cat_id,
  });

  beforeAll(async () => {
    harness = await startHarness();
    await call('POST', '/profiles/', { profile: { id: 1 } });
  });
  afterAll(() => harness.stop());

  describe('POST /profile/{profile_id}/bw_list', () => {
    it('stores the hash of the normal form with its type', async () => {
      const body = { type: 'deny', domain: 'WWW.Example.COM.' };
      const answer = await call('POST', '/profile/1/bw_list', body);
      expect([answer.status, answer.body]).toEqual([201, stored('www.example.com', DENY)]);
      expect(Number.isSafeInteger(answer.body.domain_hash)).toBe(true);
    });

    it('changes an existing rule to the submitted type', async () => {
      await call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'again.example.com' });
      const body = { type: 'allow', domain: 'again.example.com' };
      const answer = await call('POST', '/profile/1/bw_list', body);
      expect([answer.status, answer.body]).toEqual([201, stored('again.example.com', ALLOW)]);
    });

    it('accepts internationalised and single-label domains', async () => {
      const idn = await call('POST', '/profile/1/bw_list', {
        type: 'allow',
        domain: 'bücher.example.com',
      });
      expect(idn.body).toEqual(stored('xn--bcher-kva.example.com', ALLOW));
      const single = await call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'example' });
      expect(single.body).toEqual(stored('example', DENY));
    });

    it.each([
      '192.0.2.1',
      '2001:db8::1',
      '*.example.com',
      'http://example.com/',
      'a..example.com',
      '-a.example.com',
      `${'a'.repeat(64)}.example.com`,
      '',
      '.',
    ])('rejects %j without repeating it', async (domain) => {
      const answer = await call('POST', '/profile/1/bw_list', { type: 'deny', domain });
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.domain: value_error']]);
      if (domain.length > 1) expect(JSON.stringify(answer.body)).not.toContain(domain);
    });

    it.each([
      [{}, ['body.domain: missing', 'body.type: missing']],
      [{ type: 'block', domain: 7 }, ['body.domain: string_type', 'body.type: enum']],
      [{ type: null, domain: null }, ['body.domain: string_type', 'body.type: string_type']],
    ])('rejects %j', async (body, faults) => {
      const answer = await call('POST', '/profile/1/bw_list', body);
      expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
    });

    it('answers 404 with the profile', async () => {
      const body = { type: 'deny', domain: 'example.com' };
      const answer = await call('POST', '/profile/9/bw_list', body);
      expect([answer.status, answer.body]).toEqual([404, { detail: 'profile 9 not found' }]);
    });
  });

  describe('POST /profile/{profile_id}/bw_list/batch', () => {
    it('stores all, returns them in the submitted order, and merges different forms of a domain', async () => {
      const answer = await call('POST', '/profile/1/bw_list/batch', {
        type: 'allow',
        domains: ['b.example.com', 'a.example.com', 'B.example.com.'],
      });
      expect([answer.status, answer.body]).toEqual([
        201,
        [stored('b.example.com', ALLOW), stored('a.example.com', ALLOW)],
      ]);
    });

    it('accepts an empty batch, which takes a revision', async () => {
      const answer = await call('POST', '/profile/1/bw_list/batch', { type: 'deny', domains: [] });
      expect([answer.status, answer.body]).toEqual([201, []]);
      expect(answer.headers.get('x-config-revision')).toMatch(/^\d+$/);
    });

    it('applies nothing when one domain is invalid, and reports its position', async () => {
      const answer = await call('POST', '/profile/1/bw_list/batch', {
        type: 'deny',
        domains: ['good.example.com', '*.example.com', 5],
      });
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        ['body.domains.1: value_error', 'body.domains.2: string_type'],
      ]);
      const good = await call('DELETE', '/profile/1/bw_list/good.example.com');
      expect(good.status).toBe(404);
    });

    it('accepts ten thousand domains at once', async () => {
      const domains = Array.from({ length: 10_000 }, (_, i) => `n${i}.example.net`);
      const answer = await call('POST', '/profile/1/bw_list/batch', { type: 'deny', domains });
      expect([answer.status, answer.body.length]).toEqual([201, 10_000]);
      expect(answer.body[9_999]).toEqual(stored('n9999.example.net', DENY));
    });

    it('rejects more than ten thousand domains', async () => {
      const domains = Array.from({ length: 10_001 }, () => 'example.net');
      const answer = await call('POST', '/profile/1/bw_list/batch', { type: 'deny', domains });
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.domains: too_long']]);
      expect(answer.body.detail[0].msg).toBe('Must have at most 10000 items');
    });

    it('reports at most a hundred faults', async () => {
      const domains = Array.from({ length: 150 }, () => '*');
      const answer = await call('POST', '/profile/1/bw_list/batch', { type: 'deny', domains });
      expect([answer.status, faultsOf(answer).length]).toEqual([422, 100]);
    });
  });

  describe('PATCH /profile/{profile_id}/bw_list/{domain}', () => {
    it('changes the type of a rule, for any form of its domain', async () => {
      await call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'bücher.example.org' });
      const answer = await call(
        'PATCH',
        `/profile/1/bw_list/${encodeURIComponent('BÜCHER.example.org.')}`,
        { type: 'allow', domain: 'xn--bcher-kva.example.org', profile_id: 1 },
      );
      expect([answer.status, answer.body]).toEqual([
        200,
        stored('xn--bcher-kva.example.org', ALLOW),
      ]);
    });

    it('accepts a domain that has the name of another endpoint', async () => {
      await call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'batch' });
      const answer = await call('PATCH', '/profile/1/bw_list/batch', { type: 'allow' });
      expect([answer.status, answer.body]).toEqual([200, stored('batch', ALLOW)]);
    });

    it('rejects a domain or profile that differs from the path', async () => {
      await call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'agree.example.com' });
      const answer = await call('PATCH', '/profile/1/bw_list/agree.example.com', {
        type: 'allow',
        domain: 'other.example.com',
        profile_id: 2,
      });
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        ['body.domain: value_error', 'body.profile_id: value_error'],
      ]);
    });

    it('requires the type', async () => {
      const answer = await call('PATCH', '/profile/1/bw_list/example.com', {});
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.type: missing']]);
    });

    it('answers 404 with the profile, but without the domain', async () => {
      const answer = await call('PATCH', '/profile/1/bw_list/none.example.com', { type: 'deny' });
      expect([answer.status, answer.body]).toEqual([
        404,
        { detail: 'domain rule of profile 1 not found' },
      ]);
    });

    it('reports invalid percent-encoding and an invalid body together, as 422', async () => {
      const answer = await rawRequest(harness.baseUrl, {
        method: 'PATCH',
        path: '/profile/1/bw_list/%zz',
        headers: {
          Authorization: 'Bearer second-token-of-the-tests',
          'Content-Type': 'application/json',
        },
        body: '{}',
      });
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        ['body.type: missing', 'path.domain: value_error'],
      ]);
    });

    it('rejects a URL, encoded or not', async () => {
      const encoded = await call('PATCH', '/profile/1/bw_list/example.com%2Fa', { type: 'deny' });
      expect([encoded.status, faultsOf(encoded)]).toEqual([422, ['path.domain: value_error']]);
    });
  });

  describe('DELETE /profile/{profile_id}/bw_list/{domain}', () => {
    it('deletes the rule, and then answers 404', async () => {
      await call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'gone.example.com' });
      const first = await call('DELETE', '/profile/1/bw_list/GONE.example.com');
      expect([first.status, first.body]).toEqual([204, undefined]);
      expect((await call('DELETE', '/profile/1/bw_list/gone.example.com')).status).toBe(404);
    });

    it('has no GET', async () => {
      const answer = await call('GET', '/profile/1/bw_list/gone.example.com');
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'PATCH, DELETE, OPTIONS']);
    });
  });

  it('are never logged or stored in plain text', async () => {
    await call('POST', '/profile/1/bw_list', { type: 'deny', domain: 'secret.example.com' });
    await call('DELETE', '/profile/1/bw_list/secret.example.com');
    await call('DELETE', '/profile/1/bw_list/secret.example.com');
    await call('DELETE', '/profile/1/bw_list/*.secret.example.com');
    const dump = JSON.stringify(await harness.sql('SELECT * FROM change'));
    expect(dump).not.toContain('secret');
    expect(harness.logLines.length).toBeGreaterThan(4);
    expect(harness.logLines.join('')).not.toContain('secret');
  });
});
