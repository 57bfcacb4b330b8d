import { type Change, FlatRows, type Operation, RuleVerdict } from '@weir/config-model';
import { hashDomain, parseHashKey, SuffixHashes, toWireName } from '@weir/dns-name';
import { Decision, type Policy, type PolicyMessage, SharedPolicy, Verdict } from '@weir/policy';
import { describe, expect, it } from 'vitest';
import { type CatalogueSource, PolicyTarget } from './policy-target.js';
import { HASH_KEY_HEX, profile } from './testing/policies.js';

const KEY = parseHashKey(HASH_KEY_HEX);
const ADDRESS = 0xc000_0201;
const RULES = 100_000;
/** The event loop has far more turns while such a change is applied, however fast the machine is. */
const TURNS = 10;

/** More than a snapshot has, so that they take some time. */
const PART_ROWS = 20_000;
/** Of ids, with its length. */
const list = (from: number): number[] => [10, ...Array.from({ length: 10 }, (_, i) => from + i)];

const rules = Array.from({ length: RULES }, (_, i) => ({
  profileId: 1,
  domainHash: hashDomain(`r${i}.example`, KEY),
  verdict: RuleVerdict.deny,
}));
const puts = rules.map((entity): Operation => ({ type: 'put', kind: 'domainRule', entity }));
const deletes = rules.map((key): Operation => ({ type: 'delete', kind: 'domainRule', key }));

const NO_CATALOGUES: CatalogueSource = {
  want: () => undefined,
  missing: null,
  version: null,
  failures: 0,
  counters: { whole: 0, built: 0, deltaFaults: 0 },
  firstAttempt: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};

/** A target with a policy of revision 1, and a reader of it, as if it were in another thread. */
async function start(): Promise<{ target: PolicyTarget; shared: SharedPolicy }> {
  const target = new PolicyTarget({ timeZone: 'UTC', readers: 1 }, NO_CATALOGUES);
  const messages: PolicyMessage[] = [];
  const invitation = target.writer.connect(0, (one) => messages.push(structuredClone(one)));
  const shared = new SharedPolicy(structuredClone(invitation), {
    receive: () => messages.shift(),
    openCatalogue: () => {
      throw new Error('there is no catalogue');
    },
  });
  const head = { type: 'head', lineage: '', revision: 1, digest: '' } as const;
  const built = await target.build(ReadableStream.from([head]));
  await built.swapIn();
  await target.apply(
    change(2, [
      profile(1),
      {
        type: 'put',
        kind: 'ipv4Network',
        entity: { address: ADDRESS, prefixLength: 32, profileId: 1 },
      },
    ]),
  );
  return { target, shared };
}

function change(revision: number, operations: readonly Operation[]): Change {
  return { revision, digest: '', operations };
}

const client = { family: 4 as const, words: Uint32Array.of(ADDRESS, 0, 0, 0), port: 0 };
const out = new Decision();
const names = new SuffixHashes(KEY);

function verdictOf(policy: Pick<Policy, 'decide'>, rule: number): Verdict {
  names.compute(toWireName(`www.r${rule}.example`), 0);
  return policy.decide(client, names, 0, out);
}

/** Turns of the event loop until the work is done. */
async function turnsUntil(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  while (!isDone) {
    await new Promise(setImmediate);
    turns++;
  }
  await done;
  return turns;
}

describe('PolicyTarget', () => {
  it.each([
    ['profiles', 'profile', (i: number) => [i, null, 0, ...list(i), 0]],
    ['IPv6 networks', 'ipv6Network', (i: number) => [0x2001_0db8, i, i, i, 128, i % 100]],
    ['schedules', 'schedule', (i: number) => [i, 0, 1, 40, 46]],
    ['NAPT ranges', 'naptAssignment', (i: number) => [0xc000_0200 + (i % 50), i, i, i % 100]],
  ] as const)('lets other work have its turn while it loads a part of %s', async (_, kind, row) => {
    const { target } = await start();
    const rows = FlatRows.of(Array.from({ length: PART_ROWS }, (_, i) => row(i)));
    const head = { type: 'head', lineage: '', revision: 1, digest: '' } as const;
    const parts = [head, { type: 'rows', kind, rows } as const];
    const turns = await turnsUntil(target.build(ReadableStream.from(parts)));
    expect(turns).toBeGreaterThan(TURNS);
  });

  it.each([
    ['puts', 2, puts],
    ['deletes', 3, deletes],
  ])(
    'lets queries be decided, by the revision before, while a change of 100,000 %s is applied',
    async (_, before, operations) => {
      const { target, shared } = await start();
      if (before === 3) await target.apply(change(3, puts));
      const old = before === 3 ? Verdict.block : Verdict.permit;
      let turns = 0;
      const check = (): void => {
        turns++;
        const rule = turns % RULES;
        expect(target.policy!.revision).toBe(before);
        expect(verdictOf(target.policy!, rule)).toBe(old);
        const reader = shared.enter()!;
        expect(reader.revision).toBe(before);
        expect(verdictOf(reader, rule)).toBe(old);
        shared.leave();
      };
      let isApplied = false;
      const applied = target.apply(change(before + 1, operations)).then((digest) => {
        isApplied = true;
        return digest;
      });
      while (!isApplied) {
        check();
        await new Promise(setImmediate);
      }
      expect(turns).toBeGreaterThan(TURNS);
      expect(await applied).toBe(target.policy!.digest());
      const reader = shared.enter()!;
      for (const policy of [target.policy!, reader]) {
        expect(policy.revision).toBe(before + 1);
        for (let rule = 0; rule < RULES; rule += 97) {
          expect(verdictOf(policy, rule)).not.toBe(old);
        }
      }
      shared.leave();
    },
  );
});
