import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { FollowerState } from '../protocol/protocol.js';
import { ClaimVerifier } from './claim-verifier.js';

const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const FOLLOWERS = 3;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A log that a failover can set back, its followers, and the verifier of one of the replicas that write to it. */
class Simulation {
  /** The digest of each revision. */
  private readonly log = ['0 of log 0'];
  /** What the log has lost. */
  private readonly lost = new Map<string, number>();
  private failovers = 0;
  private readonly followers: FollowerState[] = [];
  private readonly verifier = new ClaimVerifier({
    readHead: () => Promise.resolve(this.head()),
    onJudgeAgain: () => this.followers.map((state) => this.verifier.judge(state)),
    log: quiet,
  });

  head() {
    const revision = this.log.length - 1;
    return { lineage: LINEAGE, revision, digest: this.log[revision] ?? '' };
  }

  /** Another replica commits. */
  commit(): void {
    this.log.push(`${this.log.length} of log ${this.failovers}`);
  }

  async readHead(): Promise<void> {
    await this.verifier.readHead();
    await turn();
  }

  failOver(back: number): void {
    this.failovers++;
    for (let i = 0; i < back && this.log.length > 1; i++)
      this.lost.set(this.log.pop() ?? '', this.log.length);
  }

  /** A follower says what it has: the head, or an older state, of this log or of what it has lost. */
  claim(follower: number, back: number): void {
    const has = [
      ...this.log.entries(),
      ...Array.from(this.lost, ([text, at]) => [at, text] as const),
    ];
    const [revision, digest] = has[Math.max(0, has.length - 1 - back)] ?? [0, ''];
    const inForce = { lineage: LINEAGE, revision, digest };
    const state: FollowerState = {
      ...{ id: `f${follower}`, kind: 'resolver', name: null, inForce, feedVersion: 1 },
    };
    this.followers[follower] = state;
    this.verifier.judge(state);
  }

  /** This replica commits, and nobody may count for it who has lost commits in force. */
  async ownCommit(): Promise<void> {
    this.commit();
    const head = this.head();
    this.verifier.committed(head);
    this.check(head.revision);
    await turn();
    this.check(head.revision);
    const own = { id: 'g', kind: 'resolver', name: null, inForce: head, feedVersion: 1 } as const;
    expect(this.verifier.judge(own)).toBe('right');
  }

  private check(revision: number): void {
    for (const state of this.followers.filter(Boolean)) {
      const { inForce } = state;
      const isLost = this.lost.has(inForce?.digest ?? '') && (inForce?.revision ?? 0) >= revision;
      if (isLost) expect(this.verifier.judge(state)).not.toBe('right');
    }
  }
}

const step = fc.oneof(
  fc.record({ does: fc.constant('commit' as const) }),
  fc.record({ does: fc.constant('ownCommit' as const) }),
  fc.record({ does: fc.constant('readHead' as const) }),
  fc.record({ does: fc.constant('failOver' as const), back: fc.integer({ min: 1, max: 6 }) }),
  fc.record({
    does: fc.constant('claim' as const),
    follower: fc.nat({ max: FOLLOWERS - 1 }),
    back: fc.nat({ max: 8 }),
  }),
);

it('counts nobody for its own commit who has a revision in force that a failover has lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const simulation = new Simulation();
      await simulation.readHead();
      for (const one of steps) {
        if (one.does === 'claim') simulation.claim(one.follower, one.back);
        else if (one.does === 'failOver') simulation.failOver(one.back);
        else await simulation[one.does]();
      }
    }),
    { numRuns: 2_000 },
  );
});
