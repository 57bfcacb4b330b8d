import { describe, expect, it } from 'vitest';
import { FollowerRegistry } from './follower-registry.js';
import { LEASE_MS } from './protocol.js';

describe('FollowerRegistry', () => {
  const resolver = (id: string, revision: number | null) =>
    ({ id, kind: 'resolver', revision }) as const;
  /** One that knows who is alive. */
  const known = () => {
    const registry = new FollowerRegistry();
    registry.complete();
    return registry;
  };

  it('counts live resolvers that have the revision, and no block pages', () => {
    const registry = known();
    registry.hear(resolver('a', 5), 0);
    registry.hear(resolver('b', 4), 0);
    registry.hear({ id: 'c', kind: 'block-page', revision: 5 }, 0);
    expect(registry.applied(5)).toEqual({ applied: 1, total: 2 });
  });

  it('ends a wait when the last live resolver acknowledges', async () => {
    const registry = known();
    registry.hear(resolver('a', 4), 0);
    registry.hear(resolver('b', 4), 0);
    const waiting = registry.waitApplied(5, 60_000);
    registry.hear(resolver('a', 5), 1);
    registry.hear(resolver('b', 6), 1);
    expect(await waiting).toEqual({ applied: 2, total: 2 });
  });

  it('stops waiting for a resolver whose lease runs out', async () => {
    const registry = known();
    registry.hear(resolver('a', 5), 1_000);
    registry.hear(resolver('dead', 4), 0);
    const waiting = registry.waitApplied(5, 60_000);
    registry.expire(LEASE_MS - 1);
    expect(registry.applied(5).total).toBe(2);
    registry.expire(LEASE_MS);
    expect(await waiting).toEqual({ applied: 1, total: 1 });
  });

  it('ends all waits when it is told to, with what there is', async () => {
    const registry = known();
    registry.hear(resolver('a', 5), 0);
    registry.hear(resolver('b', 4), 0);
    const waiting = registry.waitApplied(5, 60_000);
    registry.endWaits();
    expect(await waiting).toEqual({ applied: 1, total: 2 });
    expect(await registry.waitApplied(6, 60_000)).toEqual({ applied: 0, total: 2 });
  });

  it('keeps leases while Redis is out of reach', () => {
    const registry = known();
    registry.hear(resolver('a', 5), 0);
    registry.extendAll(LEASE_MS);
    registry.expire(LEASE_MS + 1);
    expect(registry.applied(5)).toEqual({ applied: 1, total: 1 });
  });

  it('forgets a follower that says goodbye', () => {
    const registry = known();
    registry.hear(resolver('a', 5), 0);
    registry.hear(resolver('a', null), 1);
    expect(registry.states()).toEqual([]);
  });

  it('does not end a wait before it knows who is alive', async () => {
    const registry = new FollowerRegistry();
    registry.hear(resolver('a', 5), 0);
    const waiting = registry.waitApplied(5, 60_000);
    registry.hear(resolver('b', 4), 1);
    registry.complete();
    expect(registry.applied(5)).toEqual({ applied: 1, total: 2 });
    registry.hear(resolver('b', 5), 2);
    expect(await waiting).toEqual({ applied: 2, total: 2 });
  });

  it('does not wait when told not to', async () => {
    const registry = known();
    registry.hear(resolver('a', 4), 0);
    expect(await registry.waitApplied(5, 0)).toEqual({ applied: 0, total: 1 });
  });
});
