import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Harness, pluck, startHarness } from '../../../testing/harness.js';
import { type Answer } from '../../../testing/response.js';
import { parseIpv4 } from '../addresses/addresses.js';

describe('NAPT assignments', () => {
  let harness: Harness;
  const call: Harness['call'] = (...args) => harness.call(...args);
  const napt = (
    ip: string,
    lower_port_bound: number,
    upper_port_bound: number,
    profile_id = 1,
  ) => ({
    ip,
    lower_port_bound,
    upper_port_bound,
    profile_id,
  });
  const at = (ip: string, lower?: number, upper?: number) =>
    `/napt/${parseIpv4(ip)}${lower === undefined ? '' : `/${lower}/${upper}`}`;
  const add = async (...args: Parameters<typeof napt>) => {
    const answer = await call('POST', '/napt/', napt(...args));
    expect([answer.status, answer.body]).toEqual([201, napt(...args)]);
  };
  const ranges = (answer: Answer) =>
    pluck(answer, (one) => [one.lower_port_bound as number, one.upper_port_bound as number]);

  beforeAll(async () => {
    harness = await startHarness();
    for (const id of [1, 2]) await call('POST', '/profiles/', { profile: { id } });
  });
  afterAll(() => harness.stop());

  describe('POST /napt/', () => {
    it('covers all ports by default', async () => {
      const answer = await call('POST', '/napt/', { ip: '192.0.2.1', profile_id: 1 });
      expect([answer.status, answer.body]).toEqual([201, napt('192.0.2.1', 0, 65535)]);
      const read = await call('GET', at('192.0.2.1', 0, 65535));
      expect([read.status, read.body]).toEqual([200, napt('192.0.2.1', 0, 65535)]);
    });

    it('accepts nested and disjoint ranges', async () => {
      await add('192.0.2.2', 1000, 1999);
      await add('192.0.2.2', 2000, 2999);
      await add('192.0.2.2', 0, 65535);
      await add('192.0.2.2', 1000, 1499);
      await add('192.0.2.2', 1499, 1499);
    });

    it('rejects an equal range and a partly overlapping one', async () => {
      await add('192.0.2.3', 1000, 1999);
      const equal = await call('POST', '/napt/', napt('192.0.2.3', 1000, 1999, 2));
      expect([equal.status, equal.body]).toEqual([
        409,
        { detail: 'NAPT range 192.0.2.3 1000-1999 already exists' },
      ]);
      const partial = await call('POST', '/napt/', napt('192.0.2.3', 1999, 2001));
      expect([partial.status, partial.body]).toEqual([
        409,
        {
          detail:
            'NAPT range 192.0.2.3 1999-2001 partly overlaps 192.0.2.3 1000-1999; ranges may only nest',
        },
      ]);
      await add('192.0.2.4', 1999, 2001);
    });

    it('rejects an unknown profile, with its location', async () => {
      const answer = await call('POST', '/napt/', napt('192.0.2.5', 1, 2, 9));
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.profile_id: reference']]);
    });

    it.each([
      [{}, ['body.ip: missing', 'body.profile_id: missing']],
      [{ ip: '192.0.2', profile_id: 1 }, ['body.ip: value_error']],
      [napt('192.0.2.5', 10, 9), ['body.upper_port_bound: greater_than_equal']],
      [
        napt('192.0.2.5', -1, 65536),
        ['body.lower_port_bound: greater_than_equal', 'body.upper_port_bound: less_than_equal'],
      ],
      [{ ...napt('192.0.2.5', 1, 2), upper_port_bound: '2' }, ['body.upper_port_bound: int_type']],
      [{ ...napt('192.0.2.5', 1, 2), prefix_len: 32 }, ['body.prefix_len: extra_forbidden']],
    ])('rejects %j', async (body, faults) => {
      const answer = await call('POST', '/napt/', body);
      expect([answer.status, faultsOf(answer)]).toEqual([422, faults]);
    });
  });

  describe('POST /napt/batch', () => {
    it('adds all, and returns them in the submitted order', async () => {
      const body = [
        napt('192.0.2.11', 1000, 1999),
        napt('192.0.2.10', 0, 65535, 2),
        napt('192.0.2.11', 0, 999),
      ];
      const answer = await call('POST', '/napt/batch', body);
      expect([answer.status, answer.body]).toEqual([201, body]);
      expect(ranges(await call('GET', at('192.0.2.11')))).toEqual([
        [0, 999],
        [1000, 1999],
      ]);
    });

    it('adds nothing when one range clashes with a stored one', async () => {
      await add('192.0.2.12', 1000, 1999);
      const body = [napt('192.0.2.13', 1, 2), napt('192.0.2.12', 1500, 2500)];
      expect((await call('POST', '/napt/batch', body)).status).toBe(409);
      expect((await call('GET', at('192.0.2.13'))).body).toEqual([]);
    });

    it('finds a clash of one among many ranges of an address', async () => {
      const many = Array.from({ length: 40 }, (_, i) => napt('192.0.2.15', 100 * i, 100 * i + 49));
      await call('POST', '/napt/', napt('192.0.2.15', 2_040, 2_060));
      expect((await call('POST', '/napt/batch', many)).status).toBe(409);
      await call('DELETE', `${at('192.0.2.15')}/2040/2060`);
      await call('POST', '/napt/', napt('192.0.2.15', 2_060, 2_070));
      expect((await call('POST', '/napt/batch', many)).status).toBe(201);
      expect(ranges(await call('GET', at('192.0.2.15')))).toHaveLength(41);
    });

    it('reports unknown profiles and clashes within the request together, at the later range', async () => {
      const body = [
        napt('192.0.2.14', 1, 9),
        napt('192.0.2.14', 5, 20),
        napt('192.0.2.14', 1, 9),
        napt('192.0.2.14', 100, 200, 9),
        napt('192.0.2.15', 5, 20),
      ];
      const answer = await call('POST', '/napt/batch', body);
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        ['body.1: duplicate', 'body.2: duplicate', 'body.3.profile_id: reference'],
      ]);
    });

    it('reports a clash within the request before one with a stored range', async () => {
      await add('192.0.2.18', 2000, 2999);
      const body = [napt('192.0.2.18', 2500, 2600), napt('192.0.2.18', 1500, 2500)];
      const answer = await call('POST', '/napt/batch', body);
      expect([answer.status, faultsOf(answer)]).toEqual([422, ['body.1: duplicate']]);
    });

    it('reports the faults of every item', async () => {
      const body = [napt('192.0.2.16', 2, 1), 5, { ip: '192.0.2.16' }];
      const answer = await call('POST', '/napt/batch', body);
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        [
          'body.0.upper_port_bound: greater_than_equal',
          'body.1: object_type',
          'body.2.profile_id: missing',
        ],
      ]);
      const object = await call('POST', '/napt/batch', napt('192.0.2.16', 1, 2));
      expect([object.status, faultsOf(object)]).toEqual([422, ['body: list_type']]);
    });

    it('accepts an empty and a long list', async () => {
      expect((await call('POST', '/napt/batch', [])).body).toEqual([]);
      const body = Array.from({ length: 2_000 }, (_, i) => napt('192.0.2.17', i * 32, i * 32 + 31));
      const answer = await call('POST', '/napt/batch', body);
      expect([answer.status, answer.body.length]).toEqual([201, 2_000]);
      expect((await call('GET', at('192.0.2.17'))).body).toEqual(body);
    });
  });

  describe('GET', () => {
    it('lists the assignments of an address by lower bound; the list may be empty', async () => {
      await add('192.0.2.20', 500, 600);
      await add('192.0.2.20', 0, 1000);
      await add('192.0.2.20', 500, 550);
      const answer = await call('GET', `${at('192.0.2.20')}/`);
      expect([answer.status, ranges(answer)]).toEqual([
        200,
        [
          [0, 1000],
          [500, 550],
          [500, 600],
        ],
      ]);
      const none = await call('GET', at('192.0.2.21'));
      expect([none.status, none.body]).toEqual([200, []]);
    });

    it('answers 404 with the range, and 422 for an invalid path', async () => {
      const answer = await call('GET', at('192.0.2.21', 1, 2));
      expect([answer.status, answer.body]).toEqual([
        404,
        { detail: 'NAPT range 192.0.2.21 1-2 not found' },
      ]);
      const wrong = await call('GET', '/napt/x/-1/65536');
      expect([wrong.status, faultsOf(wrong)]).toEqual([
        422,
        [
          'path.int_ip: int_type',
          'path.lower_port_bound: greater_than_equal',
          'path.upper_port_bound: less_than_equal',
        ],
      ]);
    });
  });

  describe('PATCH /napt/{int_ip}/{lower_port_bound}/{upper_port_bound}', () => {
    it('keeps omitted fields, and may change the key', async () => {
      await add('192.0.2.30', 100, 200);
      const profile = await call('PATCH', at('192.0.2.30', 100, 200), { profile_id: 2 });
      expect([profile.status, profile.body]).toEqual([200, napt('192.0.2.30', 100, 200, 2)]);
      const moved = await call('PATCH', at('192.0.2.30', 100, 200), { upper_port_bound: 250 });
      expect(moved.body).toEqual(napt('192.0.2.30', 100, 250, 2));
      const away = await call('PATCH', at('192.0.2.30', 100, 250), { ip: '192.0.2.31' });
      expect(away.body).toEqual(napt('192.0.2.31', 100, 250, 2));
      expect((await call('GET', at('192.0.2.30'))).body).toEqual([]);
    });

    it('rejects a key that exists or partly overlaps another range', async () => {
      await add('192.0.2.32', 0, 99);
      await add('192.0.2.32', 100, 199);
      const path = at('192.0.2.32', 0, 99);
      expect((await call('PATCH', path, { upper_port_bound: 100 })).status).toBe(409);
      const taken = { lower_port_bound: 100, upper_port_bound: 199 };
      expect((await call('PATCH', path, taken)).status).toBe(409);
      expect((await call('PATCH', path, { upper_port_bound: 199 })).status).toBe(200);
    });

    it('rejects an upper bound below the stored lower bound, together with other faults', async () => {
      await add('192.0.2.33', 100, 200);
      const body = { upper_port_bound: 50, profile_id: 9 };
      const answer = await call('PATCH', at('192.0.2.33', 100, 200), body);
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        ['body.profile_id: reference', 'body.upper_port_bound: greater_than_equal'],
      ]);
      expect((await call('PATCH', at('192.0.2.33', 100, 201), body)).status).toBe(404);
    });
  });

  describe('DELETE', () => {
    it('deletes one range, and then answers 404', async () => {
      await add('192.0.2.40', 1, 2);
      const answer = await call('DELETE', at('192.0.2.40', 1, 2));
      expect([answer.status, answer.body]).toEqual([204, undefined]);
      expect((await call('DELETE', at('192.0.2.40', 1, 2))).status).toBe(404);
    });

    it('deletes a batch with duplicates', async () => {
      await add('192.0.2.41', 1, 2);
      await add('192.0.2.41', 3, 4);
      await add('192.0.2.42', 1, 2);
      const key = (ip: string, lower_port_bound: number, upper_port_bound: number) => ({
        ip,
        lower_port_bound,
        upper_port_bound,
      });
      const answer = await call('DELETE', '/napt/batch', [
        key('192.0.2.41', 1, 2),
        key('192.0.2.42', 1, 2),
        key('192.0.2.41', 1, 2),
      ]);
      expect([answer.status, answer.body]).toEqual([204, undefined]);
      expect(ranges(await call('GET', at('192.0.2.41')))).toEqual([[3, 4]]);
      expect((await call('GET', at('192.0.2.42'))).body).toEqual([]);
    });

    it('deletes nothing when one range of a batch does not exist', async () => {
      await add('192.0.2.43', 1, 2);
      const answer = await call('DELETE', '/napt/batch', [
        { ip: '192.0.2.43', lower_port_bound: 1, upper_port_bound: 2 },
        { ip: '192.0.2.43', lower_port_bound: 1, upper_port_bound: 3 },
      ]);
      expect([answer.status, answer.body]).toEqual([
        404,
        { detail: 'NAPT range 192.0.2.43 1-3 not found' },
      ]);
      expect(ranges(await call('GET', at('192.0.2.43')))).toEqual([[1, 2]]);
    });

    it('rejects a profile in a batch of deletions', async () => {
      const answer = await call('DELETE', '/napt/batch', [napt('192.0.2.43', 1, 2)]);
      expect([answer.status, faultsOf(answer)]).toEqual([
        422,
        ['body.0.profile_id: extra_forbidden'],
      ]);
    });
  });
});
