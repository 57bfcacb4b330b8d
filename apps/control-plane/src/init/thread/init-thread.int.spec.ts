import { parseHashKey } from '@weir/dns-name';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { HASH_KEY } from '../../testing/harness.js';
import { InitThread } from './init-thread.js';

const EMPTY = { blockpages: [], profiles: [], bw_lists: [], napts: [], nets: [], nets6: [] };
const APPLICATIONS = { head: { lineage: 'a', catalogueVersion: null }, names: new Map() };
const textOf = (body: object) => Buffer.from(JSON.stringify(body));

describe('the thread of POST /init/', () => {
  const hashKey = parseHashKey(HASH_KEY);
  const thread = new InitThread({ databaseUrl: inject('databaseUrl'), hashKey });
  afterAll(() => thread.end());

  it('keeps several bodies apart, and says what is wrong with each', async () => {
    const [good, bad] = [textOf({ ...EMPTY, nets: [] }), textOf({ ...EMPTY, nets: [7] })];
    const check = (bytes: Uint8Array) =>
      thread.use(async (steps) => {
        for (const byte of bytes) await steps.push(Uint8Array.of(byte));
        await steps.check(APPLICATIONS);
      });
    const [first, second] = await Promise.allSettled([check(good), check(bad)]);
    expect(first).toMatchObject({ status: 'fulfilled' });
    const faults = [{ loc: ['body', 'nets', '0'], type: 'object_type' }];
    expect(second).toMatchObject({ reason: { name: 'InvalidRequestError', faults } });
  });

  it('needs no more of a body that has a hundred faults', async () => {
    const nets = Array.from({ length: 20_000 }, () => 7);
    expect(await thread.use((steps) => steps.push(textOf({ nets })))).toBe(false);
  });

  it('leaves the event loop free while it reads', async () => {
    const nets = Array.from({ length: 200_000 }, (_, i) => {
      return { ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, profile_id: 1 };
    });
    const bytes = textOf({ ...EMPTY, profiles: [{ profile: { id: 1 } }], nets });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await thread.use(async (steps) => {
      await steps.push(bytes);
      await steps.check(APPLICATIONS);
    });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('fails a body when it ends, and starts again with the next', async () => {
    const broken = thread.use(async (steps) => {
      await steps.push(Buffer.from('{'));
      await thread.end();
      await thread.use((others) => others.push(textOf(EMPTY)));
      await steps.push(Buffer.from('}'));
    });
    await expect(broken).rejects.toThrow('has ended');
  });
});
