import { describe, expect, it } from 'vitest';
import { FollowerRegistry } from './follower-registry.js';
import { LEASE_MS } from '../protocol/protocol.js';

const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const OTHER_LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a02';

describe('FollowerRegistry', () => {
  const at = (revision: number, lineage = LINEAGE) => ({ lineage, revision });
  const resolver = (id: string, revision: number | null, lineage = LINEAGE) => {
    const inForce = revision === null ? null : { lineage, revision, digest: '0123456789abcdef' };
    return { id, kind: 'resolver', name: null, inForce, feedVersion: 1 } as const;
  };
  /** One that knows who is alive. */
  const known = () => {
    const registry = new FollowerRegistry();
    registry.markComplete();
    return registry;
  };

  it('counts the live resolvers that have the revision, and not the block pages', () => {
    const registry = known();
    registry.update(resolver('a', 5), 0);
    registry.update(resolver('b', 4), 0);
    registry.update({ ...resolver('c', 5), kind: 'block-page' }, 0);
    expect(registry.applied(at(5))).toEqual({ applied: 1, total: 2 });
  });

  it('does not count a resolver that follows another log, whatever its revision', async () => {
    const registry = known();
    registry.update(resolver('a', 4), 0);
    registry.update(resolver('b', 900, OTHER_LINEAGE), 0);
    const waiting = registry.waitApplied(at(5), 60_000);
    registry.update(resolver('a', 5), 1);
    expect(registry.applied(at(5))).toEqual({ applied: 1, total: 2 });
    registry.update(resolver('b', 5), 1);
    expect(await waiting).toEqual({ applied: 2, total: 2 });
    expect(registry.applied(at(5, OTHER_LINEAGE))).toEqual({ applied: 0, total: 2 });
  });

  it('ends a wait when the last live resolver acknowledges', async () => {
    const registry = known();
    registry.update(resolver('a', 4), 0);
    registry.update(resolver('b', 4), 0);
    const waiting = registry.waitApplied(at(5), 60_000);
    registry.update(resolver('a', 5), 1);
    registry.update(resolver('b', 6), 1);
    expect(await waiting).toEqual({ applied: 2, total: 2 });
  });

  it('counts those that were there when the last one acknowledged, not one that comes a moment later', async () => {
    const registry = known();
    registry.update(resolver('a', 4), 0);
    const waiting = registry.waitApplied(at(5), 60_000);
    registry.update(resolver('a', 5), 1);
    registry.update(resolver('b', 4), 1);
    expect(await waiting).toEqual({ applied: 1, total: 1 });
  });

  it('stops waiting for a resolver whose lease expires', async () => {
    const registry = known();
    registry.update(resolver('a', 5), 1_000);
    registry.update(resolver('dead', 4), 0);
    const waiting = registry.waitApplied(at(5), 60_000);
    registry.removeExpired(LEASE_MS - 1);
    expect(registry.applied(at(5)).total).toBe(2);
    registry.removeExpired(LEASE_MS);
    expect(await waiting).toEqual({ applied: 1, total: 1 });
  });

  it('ends all waits with the present counts when it is told to', async () => {
    const registry = known();
    registry.update(resolver('a', 5), 0);
    registry.update(resolver('b', 4), 0);
    const waiting = registry.waitApplied(at(5), 60_000);
    registry.endWaits();
    expect(await waiting).toEqual({ applied: 1, total: 2 });
    expect(await registry.waitApplied(at(6), 60_000)).toEqual({ applied: 0, total: 2 });
  });

  it('keeps leases while Redis is out of reach', () => {
    const registry = known();
    registry.update(resolver('a', 5), 0);
    registry.renewAll(LEASE_MS);
    registry.removeExpired(LEASE_MS + 1);
    expect(registry.applied(at(5))).toEqual({ applied: 1, total: 1 });
  });

  it('lists what resolvers said last, with the last status, and when; no block pages', () => {
    const registry = new FollowerRegistry(60_000);
    const upstreams = [{ address: '192.0.2.53:53', state: 'up' }] as const;
    const status = {
      ...{ address: '192.0.2.1:53', version: '0.1.0', catalogue: 1, threads: 1, upstreams },
      ...{ answersPerSecond: 1, cacheHitRatio: null, blockedRatio: null },
    };
    registry.update({ ...resolver('a', 5), status }, 10);
    registry.update(resolver('a', 6), 20);
    registry.update({ ...resolver('c', 5), kind: 'block-page' }, 20);
    const said = { state: { ...resolver('a', 6), status }, isWrong: false, seenMs: 20 };
    expect(registry.resolvers()).toEqual([{ ...said, isMissing: false }]);
    registry.renewAll(30);
    registry.removeExpired(30 + LEASE_MS);
    expect(registry.resolvers()).toMatchObject([{ ...said, isMissing: true }]);
    registry.removeExpired(30 + LEASE_MS + 60_000);
    expect(registry.resolvers()).toEqual([]);
  });

  it('lists one that has another configuration than the log as wrong, until it is right', () => {
    const registry = known();
    registry.update(resolver('a', 5), 0, 'wrong');
    expect(registry.resolvers()).toMatchObject([{ isWrong: true }]);
    registry.update(resolver('a', 6), 0, 'unknown');
    expect(registry.resolvers()).toMatchObject([{ isWrong: false }]);
  });

  it('removes a follower that is stopping', () => {
    const registry = known();
    registry.update(resolver('a', 5), 0);
    registry.update(resolver('a', null), 1);
    expect(registry.states()).toEqual([]);
  });

  it('does not end a wait before it knows which followers are alive', async () => {
    const registry = new FollowerRegistry();
    registry.update(resolver('a', 5), 0);
    const waiting = registry.waitApplied(at(5), 60_000);
    registry.update(resolver('b', 4), 1);
    registry.markComplete();
    expect(registry.applied(at(5))).toEqual({ applied: 1, total: 2 });
    registry.update(resolver('b', 5), 2);
    expect(await waiting).toEqual({ applied: 2, total: 2 });
  });

  it('counts nothing as applied and ends no wait when others may have come, until it knows them', async () => {
    const registry = known();
    registry.update(resolver('a', 5), 0);
    registry.markIncomplete();
    expect(await registry.waitApplied(at(5), 10)).toEqual({ applied: 0, total: 1 });
    const waiting = registry.waitApplied(at(5), 60_000);
    registry.update(resolver('b', 5), 1);
    registry.markComplete();
    expect(await waiting).toEqual({ applied: 2, total: 2 });
  });

  it('counts nothing as applied before it knows which followers are alive', async () => {
    const registry = new FollowerRegistry();
    registry.update(resolver('a', 5), 0);
    expect(await registry.waitApplied(at(5), 10)).toEqual({ applied: 0, total: 1 });
    registry.markComplete();
    expect(await registry.waitApplied(at(5), 60_000)).toEqual({ applied: 1, total: 1 });
  });

  it('does not wait when the timeout is 0', async () => {
    const registry = known();
    registry.update(resolver('a', 4), 0);
    expect(await registry.waitApplied(at(5), 0)).toEqual({ applied: 0, total: 1 });
  });

  describe('with resolvers that count for a while after their lease has ended', () => {
    const MISSING_MS = 60_000;
    const withMissing = () => {
      const registry = new FollowerRegistry(MISSING_MS);
      registry.markComplete();
      return registry;
    };

    it('counts one that said no goodbye, as not applied, and waits for it no longer', async () => {
      const registry = withMissing();
      registry.update(resolver('a', 5), LEASE_MS);
      registry.update(resolver('cut off', 5), 0);
      const waiting = registry.waitApplied(at(6), 600_000);
      registry.update(resolver('a', 6), LEASE_MS);
      registry.removeExpired(LEASE_MS);
      expect(await waiting).toEqual({ applied: 1, total: 2 });
      // It had that revision, but nobody knows what it has now.
      expect(registry.applied(at(5))).toEqual({ applied: 1, total: 2 });
      expect(registry.missingCount).toBe(1);
      registry.update(resolver('a', 6), LEASE_MS + MISSING_MS);
      registry.removeExpired(LEASE_MS + MISSING_MS - 1);
      expect(registry.applied(at(6)).total).toBe(2);
      registry.removeExpired(LEASE_MS + MISSING_MS);
      expect(registry.applied(at(6))).toEqual({ applied: 1, total: 1 });
    });

    it('counts it once when it comes back, and not when it says goodbye then', () => {
      const registry = withMissing();
      registry.update(resolver('a', 5), 0);
      registry.removeExpired(LEASE_MS);
      registry.update(resolver('a', 6), LEASE_MS + 1);
      expect(registry.applied(at(6))).toEqual({ applied: 1, total: 1 });
      registry.update(resolver('a', null), LEASE_MS + 2);
      expect(registry.applied(at(6))).toEqual({ applied: 0, total: 0 });
    });

    it('counts one whose lease ended before the start, for as long', () => {
      const registry = withMissing();
      registry.addMissing(resolver('b', 5), LEASE_MS, LEASE_MS + 1);
      expect(registry.applied(at(5))).toEqual({ applied: 0, total: 1 });
      registry.removeExpired(LEASE_MS + MISSING_MS);
      expect(registry.applied(at(5))).toEqual({ applied: 0, total: 0 });
      registry.addMissing(resolver('b', 5), LEASE_MS, LEASE_MS + MISSING_MS);
      expect(registry.applied(at(5))).toEqual({ applied: 0, total: 0 });
    });

    it('counts one that is live once, whatever its lease said before', () => {
      const registry = withMissing();
      registry.update(resolver('a', 5), LEASE_MS);
      registry.addMissing(resolver('a', 5), 0, LEASE_MS);
      expect(registry.applied(at(5))).toEqual({ applied: 1, total: 1 });
    });

    it('does not count one that said goodbye, nor a block page', () => {
      const registry = withMissing();
      registry.update(resolver('a', 5), 0);
      registry.update(resolver('a', null), 1);
      registry.update({ ...resolver('b', 5), kind: 'block-page' }, 0);
      registry.removeExpired(LEASE_MS);
      expect(registry.applied(at(5))).toEqual({ applied: 0, total: 0 });
    });
  });

  describe('with resolvers that have names', () => {
    const MISSING_MS = 60_000;
    const shared: string[] = [];
    const withNames = () => {
      shared.length = 0;
      const registry = new FollowerRegistry(MISSING_MS, (name, ids) => {
        shared.push(`${name}: ${ids.join(' ')}`);
      });
      registry.markComplete();
      return registry;
    };
    const named = (id: string, revision: number | null, name = 'dns-1:53') => {
      return { ...resolver(id, revision), name };
    };

    it('lets one that comes back take the place of one that is missing under its name', () => {
      const registry = withNames();
      registry.update(named('other', 5, 'dns-2:53'), 0);
      registry.update(named('killed', 5), 0);
      registry.removeExpired(LEASE_MS);
      expect(registry.missingCount).toBe(2);
      registry.update(named('back', 6), LEASE_MS + 1);
      expect(registry.applied(at(6))).toEqual({ applied: 1, total: 2 });
    });

    it('lets one take the place of one whose lease has not ended when it comes back', async () => {
      const registry = withNames();
      registry.update(named('killed', 5), 0);
      registry.update(named('back', 6), 1);
      const waiting = registry.waitApplied(at(6), 600_000);
      expect(registry.applied(at(6))).toEqual({ applied: 1, total: 2 });
      registry.update(named('back', 6), 1_001);
      registry.removeExpired(LEASE_MS);
      expect(await waiting).toEqual({ applied: 1, total: 1 });
      expect(shared).toEqual([]);
    });

    it('is not misled by a lease of the one that was killed, which is read after the other was heard', () => {
      const registry = withNames();
      registry.update(named('killed', 5), 8_000);
      registry.update(named('back', 5), 9_900);
      registry.update(named('killed', 5), 10_000, 'right', 8_500);
      registry.update(named('back', 5), 10_900);
      registry.removeExpired(10_000 + LEASE_MS);
      expect(registry.applied(at(5))).toEqual({ applied: 1, total: 1 });
      expect(shared).toEqual([]);
    });

    it.each([
      ['before', ['killed', 'back']],
      ['after', ['back', 'killed']],
    ])(
      'takes the one that has spoken last for the one that is back when the lease of the other is read %s it',
      (_, order) => {
        const registry = withNames();
        for (const id of order) {
          const seenMs = id === 'killed' ? 8_000 : 9_900;
          registry.update(named(id, 5), 10_000, 'right', seenMs);
        }
        registry.update(named('back', 5), 10_900);
        registry.removeExpired(10_000 + LEASE_MS);
        expect(registry.applied(at(5))).toEqual({ applied: 1, total: 1 });
        expect(shared).toEqual([]);
      },
    );

    it('counts both of two that live and claim one name, says so once, and counts the one that dies then', () => {
      const registry = withNames();
      registry.update(named('a', 5), 0);
      registry.update(named('b', 5), 1);
      for (const nowMs of [1_000, 2_000])
        for (const id of ['a', 'b']) registry.update(named(id, 5), nowMs);
      expect(shared).toEqual(['dns-1:53: a b']);
      registry.update(named('b', 6), LEASE_MS);
      registry.removeExpired(2_000 + LEASE_MS);
      expect(registry.applied(at(6))).toEqual({ applied: 1, total: 2 });
    });

    it.each([
      ['the later one first', ['later', 'earlier']],
      ['the earlier one first', ['earlier', 'later']],
    ])('counts one place once whose runs have both ended before the start: %s', (_, ids) => {
      const registry = withNames();
      const endedMs: Record<string, number> = { earlier: 0, later: 10 };
      for (const id of ids) registry.addMissing(named(id, 5), endedMs[id], 11);
      expect(registry.resolvers().map(({ state }) => state.id)).toEqual(['later']);
    });

    it('does not count one whose lease had ended before the start and that is back under its name', () => {
      const registry = withNames();
      registry.update(named('back', 5), 0);
      registry.addMissing(named('killed', 5), 0, 1);
      expect(registry.applied(at(5))).toEqual({ applied: 1, total: 1 });
    });
  });

  it('does not count what is not right, waits for it, and counts it when it is found right', async () => {
    const registry = known();
    registry.update(resolver('a', 6), 0, 'wrong');
    const waiting = registry.waitApplied(at(5), 600_000);
    expect(registry.applied(at(5))).toEqual({ applied: 0, total: 1 });
    registry.judge(() => 'unknown');
    expect(registry.applied(at(5))).toEqual({ applied: 0, total: 1 });
    registry.judge(() => 'right');
    expect(await waiting).toEqual({ applied: 1, total: 1 });
  });

  it('ends no wait and counts nothing while it is held', async () => {
    const registry = known();
    registry.update(resolver('a', 6), 0);
    registry.hold(true);
    expect(await registry.waitApplied(at(5), 1)).toEqual({ applied: 0, total: 1 });
    const waiting = registry.waitApplied(at(5), 600_000);
    registry.hold(false);
    expect(await waiting).toEqual({ applied: 1, total: 1 });
  });

  describe('while only the head of the log can tell whether a state is right', () => {
    it('counts what the resolver said before', async () => {
      const registry = known();
      registry.update(resolver('a', 5), 0, 'right');
      registry.update(resolver('a', 9), 0, 'unknown');
      expect(await registry.waitApplied(at(5), 60_000)).toEqual({ applied: 1, total: 1 });
      expect(registry.applied(at(6))).toEqual({ applied: 0, total: 1 });
    });

    it('counts the oldest state that the head proves, although the resolver is further', async () => {
      const registry = known();
      registry.update(resolver('a', 6), 0, 'unknown');
      registry.update(resolver('a', 9), 0, 'unknown');
      const waiting = registry.waitApplied(at(6), 60_000);
      registry.judge(({ inForce }) => (inForce!.revision <= 7 ? 'right' : 'unknown'));
      expect(await waiting).toEqual({ applied: 1, total: 1 });
      registry.update(resolver('a', 11), 0, 'unknown');
      registry.judge(({ inForce }) => (inForce!.revision <= 10 ? 'right' : 'unknown'));
      expect(registry.applied(at(9))).toEqual({ applied: 1, total: 1 });
      expect(registry.applied(at(10))).toEqual({ applied: 0, total: 1 });
    });

    it('does not count what a follower said before it went back', () => {
      const registry = known();
      registry.update(resolver('a', 9), 0, 'right');
      registry.update(resolver('a', 5), 0, 'unknown');
      expect(registry.applied(at(5))).toEqual({ applied: 0, total: 1 });
    });

    it('does not count what a follower said about another log, or what is wrong by now', () => {
      const registry = known();
      registry.update(resolver('a', 900, OTHER_LINEAGE), 0, 'right');
      registry.update(resolver('a', 5), 0, 'unknown');
      registry.update(resolver('b', 5), 0, 'right');
      registry.update(resolver('b', 6), 0, 'unknown');
      expect(registry.applied(at(5))).toEqual({ applied: 1, total: 2 });
      registry.judge(({ inForce }) => (inForce!.revision === 5 ? 'wrong' : 'unknown'));
      expect(registry.applied(at(0))).toEqual({ applied: 0, total: 2 });
    });
  });
});
