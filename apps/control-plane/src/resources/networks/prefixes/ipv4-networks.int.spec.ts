import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, pluck, startHarness } from '../../../testing/harness.js';
import { parseIpv4 } from '../addresses/addresses.js';

describe('IPv4 networks', () => {
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const add = async (ip: string, prefix_len = 32, profile_id = 1) => {
    const answer = await call('POST', '/net/', { ip, prefix_len, profile_id });
    expect([answer.status, answer.body]).toEqual([201, { ip, prefix_len, profile_id }]);
  };
  const at = (ip: string) => `/net/${parseIpv4(ip)}`;

  beforeAll(async () => {
    harness = await startHarness();
    for (const id of [1, 2]) await call('POST', '/profiles/', { profile: { id } });
  });
  afterAll(() => harness.stop());

  describe('POST /net/', () => {
    it('keeps the address with its host bits, and finds it by its integer', async () => {
      await add('192.0.2.77', 26);
      const answer = await call('GET', '/net/3221226061');
      expect([answer.status, answer.body]).toEqual([
        200,
        { ip: '192.0.2.77', profile_id: 1, prefix_len: 26 },
      ]);
    });

    it('has a prefix length of 32 by default', async () => {
      const answer = await call('POST', '/net/', { ip: '203.0.113.9', profile_id: 1 });
      expect([answer.status, answer.body.prefix_len]).toEqual([201, 32]);
    });

    it('accepts the lowest and highest address and prefix length', async () => {
      await add('0.0.0.0', 10);
      await add('255.255.255.255', 32);
      expect((await call('GET', '/net/4294967295')).body.ip).toBe('255.255.255.255');
      expect((await call('GET', '/net/0')).body.prefix_len).toBe(10);
    });

    it('accepts nested networks with different addresses', async () => {
      await add('198.51.100.0', 24);
      await add('198.51.100.1', 28);
      await add('198.51.100.2', 32);
    });

    it('rejects the same address with another prefix length, because the address is the key', async () => {
      await add('198.51.100.64', 26);
      const body = { ip: '198.51.100.64', prefix_len: 30, profile_id: 1 };
      const answer = await call('POST', '/net/', body);
      expect(answer.status).toBe(409);
      expect(answer.body.detail).toMatch(/^network 198\.51\.100\.64\/26 already has this address/);
    });

    it('rejects the same masked prefix with another address', async () => {
      await add('198.51.100.130', 27);
      const body = { ip: '198.51.100.140', prefix_len: 27, profile_id: 1 };
      const answer = await call('POST', '/net/', body);
      expect([answer.status, answer.body]).toEqual([
        409,
        { detail: 'network 198.51.100.130/27 covers exactly the same addresses' },
      ]);
    });

    it('rejects an unknown profile, with its location', async () => {
      const answer = await call('POST', '/net/', { ip: '203.0.113.1', profile_id: 9 });
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.profile_id: reference']]);
    });

    it.each([
      '192.0.2',
      '192.0.2.256',
      '192.0.2.01',
      '192.0.2.1/24',
      ' 192.0.2.1',
      '::ffff:192.0.2.1',
      '0xc0.0.2.1',
      '',
    ])('rejects the address %j', async (ip) => {
      const answer = await call('POST', '/net/', { ip, profile_id: 1 });
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.ip: value_error']]);
    });

    it.each([
      [9, 'greater_than_equal'],
      [33, 'less_than_equal'],
      ['24', 'int_type'],
      [24.5, 'int_type'],
      [null, 'int_type'],
    ])('rejects the prefix length %j', async (prefix_len, type) => {
      const answer = await call('POST', '/net/', { ip: '203.0.113.2', prefix_len, profile_id: 1 });
      expect([answer.status, faultsOf(answer)]).toEqual([422, [`body.prefix_len: ${type}`]]);
    });
  });

  describe('GET', () => {
    it('lists all networks in the numerical order of their addresses', async () => {
      await add('203.0.113.100');
      await add('203.0.113.20');
      const answer = await call('GET', '/net/');
      const addresses = pluck(answer, (network) => parseIpv4(network.ip as string) as number);
      expect(answer.status).toBe(200);
      expect(addresses).toEqual(addresses.toSorted((a, b) => a - b));
      expect(addresses.length).toBeGreaterThan(5);
    });

    it.each([
      ['4294967296', 'less_than_equal'],
      ['-1', 'greater_than_equal'],
      ['192.0.2.1', 'int_type'],
    ])('rejects %s in the path', async (part, type) => {
      const answer = await call('GET', `/net/${part}`);
      expect([answer.status, faultsOf(answer)]).toEqual([422, [`path.int_ip: ${type}`]]);
    });

    it('answers 404 with the address', async () => {
      const answer = await call('GET', at('203.0.113.254'));
      expect([answer.status, answer.body]).toEqual([
        404,
        { detail: 'network 203.0.113.254 not found' },
      ]);
    });
  });

  describe('PATCH /net/{int_ip}', () => {
    it('keeps omitted fields, also the prefix length', async () => {
      await add('203.0.113.32', 29);
      const answer = await call('PATCH', at('203.0.113.32'), { profile_id: 2 });
      expect([answer.status, answer.body]).toEqual([
        200,
        { ip: '203.0.113.32', profile_id: 2, prefix_len: 29 },
      ]);
    });

    it('changes the key when the address changes', async () => {
      await add('203.0.113.40', 30);
      const answer = await call('PATCH', at('203.0.113.40'), { ip: '203.0.113.44' });
      expect([answer.status, answer.body.ip]).toEqual([200, '203.0.113.44']);
      expect((await call('GET', at('203.0.113.40'))).status).toBe(404);
      expect((await call('GET', at('203.0.113.44'))).body.prefix_len).toBe(30);
    });

    it('may get another address in its own prefix', async () => {
      await add('203.0.113.48', 29);
      const answer = await call('PATCH', at('203.0.113.48'), { ip: '203.0.113.50' });
      expect([answer.status, answer.body.ip]).toEqual([200, '203.0.113.50']);
    });

    it('rejects the address or the prefix of another network', async () => {
      await add('203.0.113.64', 28);
      await add('203.0.113.80', 28);
      const taken = await call('PATCH', at('203.0.113.64'), { ip: '203.0.113.80' });
      expect(taken.status).toBe(409);
      const covered = await call('PATCH', at('203.0.113.64'), { ip: '203.0.113.81' });
      expect(covered.status).toBe(409);
      expect((await call('GET', at('203.0.113.64'))).status).toBe(200);
    });

    it('answers 404 for the network before it checks references', async () => {
      const answer = await call('PATCH', at('203.0.113.253'), { profile_id: 9 });
      expect(answer.status).toBe(404);
      const found = await call('PATCH', at('203.0.113.64'), { profile_id: 9 });
      expect([found.status, faultsOf(found)]).toEqual([422, ['body.profile_id: reference']]);
    });

    it('answers 200 and changes nothing when the body is empty', async () => {
      const answer = await call('PATCH', at('203.0.113.64'), {});
      expect([answer.status, answer.body.ip]).toEqual([200, '203.0.113.64']);
    });
  });

  describe('DELETE /net/{int_ip}', () => {
    it('deletes the network, and then answers 404', async () => {
      await add('203.0.113.200');
      const answer = await call('DELETE', at('203.0.113.200'));
      expect([answer.status, answer.body]).toEqual([204, undefined]);
      expect((await call('DELETE', at('203.0.113.200'))).status).toBe(404);
    });
  });
});
