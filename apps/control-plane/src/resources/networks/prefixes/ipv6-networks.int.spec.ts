import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, pluck, startHarness } from '../../../testing/harness.js';

describe('IPv6 networks', () => {
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const add = async (ip: string, prefix_len = 128) => {
    const answer = await call('POST', '/net6/', { ip, prefix_len, profile_id: 1 });
    expect(answer.status).toBe(201);
  };

  beforeAll(async () => {
    harness = await startHarness();
    for (const id of [1, 2]) await call('POST', '/profiles/', { profile: { id } });
  });
  afterAll(() => harness.stop());

  describe('POST /net6/', () => {
    it('accepts any text form, and returns that of RFC 5952 with the host bits', async () => {
      const body = { ip: '2001:0DB8:0:0:0:0:0:0077', profile_id: 1, prefix_len: 56 };
      const answer = await call('POST', '/net6/', body);
      expect([answer.status, answer.body]).toEqual([
        201,
        { ip: '2001:db8::77', profile_id: 1, prefix_len: 56 },
      ]);
    });

    it('has a prefix length of 128 by default, and accepts both ends of the range', async () => {
      const answer = await call('POST', '/net6/', { ip: '2001:db8:1::1', profile_id: 1 });
      expect(answer.body.prefix_len).toBe(128);
      await add('2001:db8:2::', 16);
    });

    it('rejects the same address with another prefix length, in any text form', async () => {
      await add('2001:db8:3::', 48);
      const body = { ip: '2001:DB8:3:0::0', prefix_len: 64, profile_id: 1 };
      const answer = await call('POST', '/net6/', body);
      expect(answer.status).toBe(409);
      expect(answer.body.detail).toMatch(/^network 2001:db8:3::\/48 already has this address/);
    });

    it('rejects the same masked prefix with another address, and accepts nested networks', async () => {
      await add('2001:db8:4::', 48);
      await add('2001:db8:4::1', 64);
      const body = { ip: '2001:db8:4::2', prefix_len: 48, profile_id: 1 };
      const answer = await call('POST', '/net6/', body);
      expect([answer.status, answer.body]).toEqual([
        409,
        { detail: 'network 2001:db8:4::/48 covers exactly the same addresses' },
      ]);
    });

    it('rejects an unknown profile, with its location', async () => {
      const answer = await call('POST', '/net6/', { ip: '2001:db8:5::', profile_id: 9 });
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.profile_id: reference']]);
    });

    it.each([
      'fe80::1%eth0',
      '::ffff:192.0.2.1',
      '192.0.2.1',
      '2001:db8::/32',
      '[2001:db8::1]',
      '',
    ])('rejects the address %j', async (ip) => {
      const answer = await call('POST', '/net6/', { ip, profile_id: 1 });
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.ip: value_error']]);
    });

    it.each([
      [15, 'greater_than_equal'],
      [129, 'less_than_equal'],
    ])('rejects the prefix length %j', async (prefix_len, type) => {
      const answer = await call('POST', '/net6/', {
        ip: '2001:db8:6::',
        prefix_len,
        profile_id: 1,
      });
      expect([answer.status, faultsOf(answer)]).toEqual([422, [`body.prefix_len: ${type}`]]);
    });
  });

  describe('GET', () => {
    it.each(['2001:db8::77', '2001:DB8:0::77', '2001%3Adb8%3A%3A77', '2001:db8:0:0:0:0:0:77/'])(
      'finds a network by any form of its address: %s',
      async (ip) => {
        const answer = await call('GET', `/net6/${ip}`);
        expect([answer.status, answer.body.ip]).toEqual([200, '2001:db8::77']);
      },
    );

    it('lists all networks in the numerical order of their addresses', async () => {
      await add('2001:db8:10::');
      await add('2001:db8:9::');
      await add('::2');
      const ips = pluck(await call('GET', '/net6/'), (network) => network.ip as string);
      expect(ips[0]).toBe('::2');
      expect(ips.indexOf('2001:db8:9::')).toBeLessThan(ips.indexOf('2001:db8:10::'));
    });

    it('answers 404 with the address, and 422 for an invalid one', async () => {
      const missing = await call('GET', '/net6/2001:db8:0:ffff::1');
      expect([missing.status, missing.body]).toEqual([
        404,
        { detail: 'network 2001:db8:0:ffff::1 not found' },
      ]);
      for (const path of ['/net6/x', '/net6/::ffff:192.0.2.1', '/net6/fe80::1%25eth0']) {
        const answer = await call('GET', path);
        expect([answer.status, faultsOf(answer)]).toEqual([422, ['path.ipv6: value_error']]);
      }
    });
  });

  describe('PATCH /net6/{ipv6}', () => {
    it('keeps omitted fields', async () => {
      await add('2001:db8:20::', 60);
      const answer = await call('PATCH', '/net6/2001:db8:20::', { profile_id: 2 });
      expect([answer.status, answer.body]).toEqual([
        200,
        { ip: '2001:db8:20::', profile_id: 2, prefix_len: 60 },
      ]);
    });

    it('changes the key when the address changes, also within its own prefix', async () => {
      await add('2001:db8:21::', 48);
      const answer = await call('PATCH', '/net6/2001:db8:21::', { ip: '2001:db8:21::5' });
      expect([answer.status, answer.body.ip]).toEqual([200, '2001:db8:21::5']);
      expect((await call('GET', '/net6/2001:db8:21::')).status).toBe(404);
    });

    it('rejects the address of another network', async () => {
      await add('2001:db8:22::', 48);
      await add('2001:db8:23::', 48);
      const answer = await call('PATCH', '/net6/2001:db8:22::', { ip: '2001:db8:23::' });
      expect(answer.status).toBe(409);
    });
  });

  describe('DELETE /net6/{ipv6}', () => {
    it('deletes the network, and then answers 404', async () => {
      await add('2001:db8:30::1');
      const answer = await call('DELETE', '/net6/2001:DB8:30:0::1');
      expect([answer.status, answer.body]).toEqual([204, undefined]);
      expect((await call('DELETE', '/net6/2001:db8:30::1')).status).toBe(404);
    });
  });
});
