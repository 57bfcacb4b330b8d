import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureKind } from './follower-state.js';
import { SimulatedFollower } from '../../testing/simulated-follower.js';
import { SimulatedLog } from '../../testing/simulated-log.js';

type Command = fc.Command<SimulatedLog, SimulatedFollower>;

/** A command that is always possible; what it prints on a failure is its name. */
function command(
  name: string,
  run: (log: SimulatedLog, follower: SimulatedFollower) => void,
): Command {
  return { check: () => true, run, toString: () => name };
}

const onLog = (name: string, run: (log: SimulatedLog) => void): fc.Arbitrary<Command> =>
  fc.constant(command(name, run));
const onFollower = (
  name: string,
  run: (follower: SimulatedFollower) => void,
): fc.Arbitrary<Command> => fc.constant(command(name, (_log, follower) => run(follower)));

/** A message from Redis: any that was ever published, of this log or of one before. */
const receive = (type: 'change' | 'head'): fc.Arbitrary<Command> =>
  fc.tuple(fc.nat(20), fc.boolean()).map(([someAge, isNewest]) => {
    const age = isNewest ? 0 : someAge;
    return command(`receive ${type} of age ${age}`, (log, follower) => {
      const message = log.published.at(-1 - age);
      if (!message) return;
      if (type === 'change') follower.handle({ type: 'changeReceived', change: message });
      else follower.handle({ type: 'headReceived', head: message });
    });
  });

const fail = fc
  .constantFrom<FailureKind>('unavailable', 'refused', 'wrongDigest', 'other')
  .map((kind) => command(`fail ${kind}`, (_log, follower) => follower.fail(kind)));

const succeed = onFollower('succeed', (follower) => follower.succeed());
const commit = onLog('commit', (log) => log.commit());
const STEPS_BACK = fc.integer({ min: 1, max: 4 });

const COMMANDS: fc.Arbitrary<Command>[] = [
  commit,
  commit,
  receive('change'),
  receive('change'),
  receive('head'),
  succeed,
  succeed,
  succeed,
  succeed,
  fail,
  onLog('replace', (log) => log.replace()),
  onLog('prune', (log) => log.prune()),
  onLog('lose newest', (log) => log.loseNewest()),
  STEPS_BACK.map((steps) => command(`set back ${steps}`, (log) => log.setBack(steps))),
  STEPS_BACK.map((steps) => command(`restore ${steps}`, (log) => log.restore(steps))),
  onFollower('messages missed', (follower) => follower.handle({ type: 'messagesMissed' })),
  onFollower('end pause', (follower) => follower.endPause()),
  onFollower('corrupt next apply', (follower) => follower.corruptNextApply()),
];

/** No failures, no losses: each step succeeds, and the head comes once a heartbeat. */
function calmDown(log: SimulatedLog, follower: SimulatedFollower): void {
  // The first heartbeats may lead to a fetch and then to a snapshot. At the last one the follower is at the head.
  for (let heartbeat = 0; heartbeat < 4; heartbeat++) {
    follower.handle({ type: 'headReceived', head: log.head });
    for (let steps = 0; follower.isStepUnderWay; steps++) {
      if (steps > 20 + 4 * log.published.length) throw new Error('never at rest');
      follower.succeed();
    }
  }
}

describe('FollowerMachine', () => {
  it('breaks no rule of the feed and ends caught up once nothing fails any more, whatever happened before', () => {
    fc.assert(
      fc.property(fc.commands(COMMANDS, { maxCommands: 120 }), (commands) => {
        const log = new SimulatedLog();
        const follower = new SimulatedFollower(log);
        follower.handle({ type: 'started' });
        fc.modelRun(() => ({ model: log, real: follower }), commands);
        calmDown(log, follower);
        const { phase, inForce, isAnnounced, isCaughtUp } = follower.machine;
        expect([phase, inForce]).toEqual(['idle', log.head]);
        expect([isAnnounced, isCaughtUp]).toEqual([true, true]);
        expect(follower.content).toEqual(log.contentAt(log.revision));
        expect(follower.acknowledged).toEqual(log.head);
      }),
      { numRuns: 1_000 },
    );
  });

  it('begins no step after stop, and stops', () => {
    fc.assert(
      fc.property(
        fc.commands(COMMANDS, { maxCommands: 40 }),
        fc.commands(COMMANDS, { maxCommands: 10 }),
        (before, after) => {
          const log = new SimulatedLog();
          const follower = new SimulatedFollower(log);
          follower.handle({ type: 'started' });
          fc.modelRun(() => ({ model: log, real: follower }), before);
          follower.handle({ type: 'stop' });
          fc.modelRun(() => ({ model: log, real: follower }), after);
          follower.handle({ type: 'stop' });
          // Both may be under way: a change is applied during the pause after a failed step.
          follower.succeed();
          follower.endPause();
          expect(follower.machine.phase).toBe('stopped');
          expect(follower.isStepUnderWay).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });
});
