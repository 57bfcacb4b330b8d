import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { FollowerRegistry } from './follower-registry.js';
import { type FollowerState, LEASE_MS, type Position } from '../protocol/protocol.js';
import type { Applied } from './acknowledgements.js';

const LONG_MS = 600_000;
const MISSING_MS = 2 * LEASE_MS;

/** The rules of the registry, in the simplest form that can be right: everything is looked at each time. */
class SlowRegistry {
  private followers = new Map<
    string,
    { state: FollowerState; expiresAtMs: number; heard: number }
  >();
  private missing: { id: string; name: string | null; untilMs: number }[] = [];
  /** Resolvers that were new, with the number of that message. */
  private readonly arrivals: { name: string; heard: number }[] = [];
  private heard = 0;
  private waiting: { name: number; position: Position }[] = [];
  private isComplete = false;
  private hasEndedWaits = false;

  markComplete(): void {
    this.isComplete = true;
  }

  markIncomplete(): void {
    this.isComplete = false;
  }

  endWaits(): void {
    this.hasEndedWaits = true;
  }

  update(state: FollowerState, nowMs: number): void {
    this.missing = this.missing.filter(({ id }) => id !== state.id);
    const { id, kind, name, inForce } = state;
    const heard = ++this.heard;
    if (name !== null && kind === 'resolver' && inForce !== null && !this.followers.has(id)) {
      this.arrivals.push({ name, heard });
      this.missing = this.missing.filter((one) => one.name !== name);
    }
    if (inForce === null) this.followers.delete(id);
    else this.followers.set(id, { state, expiresAtMs: nowMs + LEASE_MS, heard });
  }

  removeExpired(nowMs: number): void {
    for (const { state, expiresAtMs, heard } of this.followers.values()) {
      const { id, name } = state;
      const isReplaced = this.arrivals.some((one) => one.name === name && one.heard > heard);
      if (expiresAtMs <= nowMs && state.kind === 'resolver' && !isReplaced)
        this.missing.push({ id, name, untilMs: expiresAtMs + MISSING_MS });
    }
    this.missing = this.missing.filter(({ untilMs }) => untilMs > nowMs);
    const alive = [...this.followers].filter(([, { expiresAtMs }]) => expiresAtMs > nowMs);
    this.followers = new Map(alive);
  }

  applied({ lineage, revision }: Position): Applied {
    const resolvers = this.states().filter(({ kind }) => kind === 'resolver');
    const applied = resolvers.filter(
      ({ inForce }) => inForce?.lineage === lineage && inForce.revision >= revision,
    );
    return {
      applied: this.isComplete ? applied.length : 0,
      total: resolvers.length + this.missing.length,
    };
  }

  states(): FollowerState[] {
    return Array.from(this.followers.values(), ({ state }) => state);
  }

  wait(name: number, position: Position): void {
    this.waiting.push({ name, position });
  }

  /** The waits that end now. */
  endFinished(): number[] {
    const isFinished = (position: Position): boolean => {
      const { applied, total } = this.applied(position);
      const live = total - this.missing.length;
      return this.hasEndedWaits || (this.isComplete && applied === live);
    };
    const ended = this.waiting.filter(({ position }) => isFinished(position));
    this.waiting = this.waiting.filter((one) => !ended.includes(one));
    return ended.map(({ name }) => name).sort((a, b) => a - b);
  }
}

/** By id: some share a name, some have none. */
const NAMES = ['x', 'y', 'z', null];
const LINEAGES = ['a', 'b'];
const revisions = fc.integer({ min: 0, max: 6 });
const positions = fc.record({ lineage: fc.constantFrom('a', 'a', 'b'), revision: revisions });
const commands = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('update' as const),
      id: fc.nat({ max: 14 }).map(String),
      kind: fc.constantFrom('resolver' as const, 'resolver' as const, 'block-page' as const),
      lineage: fc.constantFrom('a', 'a', 'a', 'b'),
      revision: fc.oneof({ weight: 8, arbitrary: revisions }, fc.constant(null)),
    }),
  },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('wait' as const), position: positions }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      ms: fc.integer({ min: 1, max: LEASE_MS }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('complete' as const, 'incomplete' as const, 'end' as const),
    }),
  },
);

it('counts and ends waits exactly as a registry that looks at every follower and every wait each time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(commands, { maxLength: 60 }), async (script) => {
      const [fast, slow] = [new FollowerRegistry(MISSING_MS), new SlowRegistry()];
      let nowMs = 0;
      let ended: number[] = [];
      for (const [name, command] of script.entries()) {
        switch (command.type) {
          case 'update': {
            const { id, kind, lineage, revision } = command;
            const name = NAMES[Number(id) % NAMES.length]!;
            const inForce = revision === null ? null : { lineage, revision, digest: '' };
            const state = { id, kind, name, inForce, feedVersion: 1 };
            for (const registry of [fast, slow]) registry.update(state, nowMs);
            break;
          }
          case 'wait':
            void fast.waitApplied(command.position, LONG_MS).then(() => ended.push(name));
            slow.wait(name, command.position);
            break;
          case 'pass':
            nowMs += command.ms;
            for (const registry of [fast, slow]) registry.removeExpired(nowMs);
            break;
          case 'complete':
            for (const registry of [fast, slow]) registry.markComplete();
            break;
          case 'incomplete':
            for (const registry of [fast, slow]) registry.markIncomplete();
            break;
          case 'end':
            for (const registry of [fast, slow]) registry.endWaits();
            break;
        }
        await turn();
        expect(ended.sort((a, b) => a - b)).toEqual(slow.endFinished());
        ended = [];
        expect(fast.states()).toEqual(slow.states());
        for (const lineage of LINEAGES) {
          for (let revision = 0; revision <= 7; revision++) {
            const position = { lineage, revision };
            expect(fast.applied(position)).toEqual(slow.applied(position));
          }
        }
      }
      fast.endWaits();
    }),
    { numRuns: 200, endOnFailure: true },
  );
});
