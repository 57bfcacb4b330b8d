import type { Change, Head } from '@weir/config-model';
import { beforeEach, describe, expect, it } from 'vitest';
import { FollowerMachine } from './follower-machine.js';
import type { FailureKind, FollowerEvent } from './follower-state.js';

const head = (revision: number, lineage = 'ours'): Head => ({
  lineage,
  revision,
  digest: `digest of ${revision}`,
});
const change = (revision: number, lineage?: string): Change & Head => ({
  ...head(revision, lineage),
  operations: [],
});
const headReceived = (revision: number, lineage?: string): FollowerEvent => ({
  type: 'headReceived',
  head: head(revision, lineage),
});
const changeReceived = (revision: number, lineage?: string): FollowerEvent => ({
  type: 'changeReceived',
  change: change(revision, lineage),
});
const largeChange = (revision: number): FollowerEvent => ({
  type: 'largeChangeReceived',
  head: head(revision),
});
const fetched = (revision: number, ...changes: Change[]): FollowerEvent => ({
  type: 'fetched',
  page: { head: head(revision), changes },
});
const failed = (kind: FailureKind): FollowerEvent => ({ type: 'failed', kind, reason: 'test' });
const loaded = (revision: number): FollowerEvent => ({
  type: 'loaded',
  cause: 'start',
  head: head(revision),
});
const applied = (revision: number): FollowerEvent => ({ type: 'applied', point: head(revision) });
const RESUMED: FollowerEvent = { type: 'resumed' };
const RETRIED: FollowerEvent = { type: 'retried' };
const AWAITED: FollowerEvent = { type: 'awaited' };
const START: FollowerEvent[] = [{ type: 'started' }, loaded(5), RESUMED];

describe('FollowerMachine', () => {
  let machine: FollowerMachine;
  /** Handles the events; answers the name of the phase, the counters that the last event raised, and its effects. */
  const after = (...events: FollowerEvent[]) => {
    let effects: readonly { type: string }[] = [];
    let before = counters();
    for (const event of events) {
      before = counters();
      effects = machine.handle(event);
    }
    const raised = Object.entries(counters()).filter(([name, count]) => count !== before[name]);
    return [machine.phase, ...raised.map(([name]) => name), ...effects.map(({ type }) => type)];
  };
  /** Those of loads by their cause. */
  const counters = (): Record<string, number> => {
    const { loads, ...others } = machine.counters;
    return { ...others, ...loads };
  };
  const refuseThrice = () => {
    atRest();
    after({ type: 'messagesMissed' }, failed('refused'), RETRIED, failed('refused'), RETRIED);
    return after(failed('refused'));
  };
  const atRest = () => after(...START, { type: 'announced' }, RESUMED, fetched(5), RESUMED);

  beforeEach(() => {
    machine = new FollowerMachine();
  });

  it('loads a snapshot first, and then announces itself', () => {
    expect(after({ type: 'started' })).toEqual(['loading', 'load']);
    expect(after(loaded(5))).toEqual(['yielding', 'start', 'acknowledge', 'yield']);
    expect(after(RESUMED)).toEqual(['announcing', 'announce']);
  });

  it('loads no snapshot after a start from disk', () => {
    const fromDisk: FollowerEvent = { type: 'loaded', cause: 'disk', head: head(5) };
    expect(after(fromDisk)).toEqual(['starting', 'disk', 'acknowledge']);
    expect(after({ type: 'started' })).toEqual(['announcing', 'announce']);
  });

  it('announces what was on the disk before it catches up, because it may be answering somebody', () => {
    const fromDisk: FollowerEvent = { type: 'loaded', cause: 'disk', head: head(5) };
    after(fromDisk, { type: 'messagesMissed' });
    expect(after(changeReceived(6))).toEqual(['announcing']);
    expect(after({ type: 'announced' }, RESUMED)).toEqual(['applying', 'apply']);
    expect(machine.isCaughtUp).toBe(false);
  });

  it('fetches what was committed before it was announced', () => {
    expect(after(...START, { type: 'announced' }, RESUMED)).toEqual(['fetching', 'fetch']);
    expect(machine.isCaughtUp).toBe(false);
    expect(after(fetched(5), RESUMED)).toEqual(['idle', 'recordIfDue']);
    expect(machine.isCaughtUp).toBe(true);
  });

  it.each<[string, FollowerEvent, string[]]>([
    ['applies the next change', changeReceived(6), ['applying', 'apply']],
    ['awaits the changes before a later one', changeReceived(7), ['awaiting', 'await']],
    ['awaits the changes up to a newer head', headReceived(7), ['awaiting', 'await']],
    ['fetches a change that no message carries', largeChange(6), ['fetching', 'gaps', 'fetch']],
    ['fetches for an older head', headReceived(4), ['fetching', 'fetch']],
    ['fetches for a head of another log', headReceived(5, 'other'), ['fetching', 'fetch']],
    ['fetches for a change of another log', changeReceived(6, 'other'), ['fetching', 'fetch']],
    ['fetches when messages may be lost', { type: 'messagesMissed' }, ['fetching', 'fetch']],
    ['ignores a change from long ago', changeReceived(4), ['idle', 'duplicates']],
    ['notes that it is at the head', headReceived(5), ['idle', 'noteAtHead', 'recordIfDue']],
  ])('when idle, %s', (_what, event, expected) => {
    atRest();
    expect(after(event)).toEqual(expected);
  });

  it('applies what it fetched although it has received as many later changes as it keeps', () => {
    atRest();
    for (let revision = 100; revision < 10_200; revision++) after(changeReceived(revision));
    expect(after(AWAITED)).toEqual(['fetching', 'gaps', 'fetch']);
    after(fetched(10_200, change(6), change(7)));
    expect(after(RESUMED)).toEqual(['applying', 'apply']);
  });

  describe('while it awaits changes', () => {
    beforeEach(() => {
      atRest();
      after(changeReceived(7));
    });

    it.each<[string, FollowerEvent, string[]]>([
      ['applies the next one at once', changeReceived(6), ['applying', 'apply']],
      ['goes on when a later one comes', changeReceived(8), ['awaiting']],
      ['goes on when a head comes', headReceived(8), ['awaiting']],
      ['fetches when it is over', AWAITED, ['fetching', 'gaps', 'fetch']],
      [
        'fetches when messages may be lost',
        { type: 'messagesMissed' },
        ['fetching', 'gaps', 'fetch'],
      ],
      ['fetches a change that no message carries', largeChange(8), ['fetching', 'gaps', 'fetch']],
      ['can be stopped', { type: 'stop' }, ['stopped']],
    ])('%s', (_what, event, expected) => {
      expect(after(event)).toEqual(expected);
    });

    it('awaits again after one of them was applied', () => {
      after(headReceived(9), changeReceived(6), applied(6), RESUMED, applied(7));
      expect(after(RESUMED)).toEqual(['awaiting', 'await']);
    });

    it('ignores the end of a wait in any other phase', () => {
      after(changeReceived(6));
      expect(after(AWAITED)).toEqual(['applying']);
      expect(after(applied(6), RESUMED, applied(7), RESUMED, AWAITED)).toEqual(['idle']);
    });
  });

  it('believes the newest of the heads that it received, not the last', () => {
    atRest();
    after(changeReceived(6), headReceived(8), headReceived(7));
    expect(machine.head).toEqual(head(8));
  });

  it('does not apply a change that it has, which came while that was under way', () => {
    atRest();
    after(changeReceived(6), changeReceived(6), applied(6));
    expect(machine.hasNextChange).toBe(false);
    expect(after(RESUMED)).toEqual(['idle', 'recordIfDue']);
  });

  it('acknowledges a change once it is in force', () => {
    atRest();
    after(changeReceived(6));
    expect(after(applied(6))).toEqual([
      'yielding',
      'changesApplied',
      'acknowledge',
      'noteAtHead',
      'recordIfDue',
      'yield',
    ]);
  });

  it('loads a snapshot when the digests differ at the same revision', () => {
    atRest();
    const different = { ...head(5), digest: 'another' };
    expect(after({ type: 'headReceived', head: different })).toEqual([
      'yielding',
      'digestMismatches',
      'noteAtHead',
      'log',
      'yield',
    ]);
    expect(after(RESUMED)).toEqual(['loading', 'load']);
  });

  it('forgets the changes that it received before it noticed a difference', () => {
    atRest();
    // The log ends at 4: the database was set back, and change 7 was committed before that.
    after(changeReceived(7), AWAITED, fetched(4), RESUMED);
    after(loaded(6));
    expect(machine.hasNextChange).toBe(false);
  });

  it('loads once for a change that replaces everything, even if the database was set back meanwhile', () => {
    atRest();
    const replaced = { ...change(6), operations: [{ type: 'reload' as const }] };
    after({ type: 'changeReceived', change: replaced }, RESUMED, loaded(5), RESUMED, AWAITED);
    expect(machine.phase).toBe('fetching');
    expect(after(fetched(5), RESUMED)).toEqual(['idle', 'recordIfDue']);
  });

  it('fetches again after a fetch that failed, although the head is not newer', () => {
    atRest();
    const retried = ['retrying', 'feedFailures', 'log', 'pause'];
    expect(after({ type: 'messagesMissed' }, failed('unavailable'))).toEqual(retried);
    expect(after(RETRIED)).toEqual(['fetching', 'fetch']);
  });

  it('loads a snapshot after three refusals in a row', () => {
    refuseThrice();
    expect(after(RETRIED)).toEqual(['loading', 'load']);
  });

  it('loads a snapshot after twice as many refusals each time, up to a limit, until changes come', () => {
    atRest();
    after({ type: 'messagesMissed' });
    const refusalsBeforeLoad = () => {
      for (let refusals = 0; ; refusals++) {
        if (machine.phase === 'loading') return refusals;
        after(failed('refused'), RETRIED);
      }
    };
    const inForce: FollowerEvent[] = [{ type: 'loaded', cause: 'failed', head: head(5) }, RESUMED];
    const counts = Array.from({ length: 9 }, () => {
      const count = refusalsBeforeLoad();
      after(...inForce);
      return count;
    });
    expect(counts).toEqual([3, 6, 12, 24, 48, 96, 192, 192, 192]);
    after(fetched(5), RESUMED, { type: 'messagesMissed' });
    expect(refusalsBeforeLoad()).toBe(3);
    after(failed('unavailable'), RETRIED);
    expect(refusalsBeforeLoad()).toBe(3);
  });

  it('pauses for longer and longer while the changes are refused, although snapshots can be loaded', () => {
    refuseThrice();
    after(RETRIED, { ...loaded(5), cause: 'failed' } as FollowerEvent, RESUMED);
    expect([machine.phase, machine.failures]).toEqual(['fetching', 3]);
    after(failed('refused'), RETRIED, fetched(5));
    expect(machine.failures).toBe(0);
  });

  it('applies at once what comes during a pause, and then goes on with the pause', () => {
    refuseThrice();
    expect(after(changeReceived(6))).toEqual(['applying', 'apply']);
    expect(after(applied(6), RESUMED)).toEqual(['retrying']);
    expect(machine.failures).toBe(3);
    after(changeReceived(7));
    expect(after(RETRIED)).toEqual(['applying']);
    expect(after(applied(7), RESUMED)).toEqual(['loading', 'load']);
  });

  it('applies at once what comes while neither the changes nor a snapshot can be had', () => {
    refuseThrice();
    expect(after(RETRIED, failed('refused'))).toContain('pause');
    expect(after(changeReceived(6))).toEqual(['applying', 'apply']);
    expect(after(applied(6), RESUMED)).toEqual(['retrying']);
    expect(after(RETRIED)).toEqual(['fetching', 'fetch']);
  });

  it('loads a snapshot when the log lacks the next revision', () => {
    atRest();
    after(headReceived(8), AWAITED, fetched(8, change(7), change(8)));
    expect(after(RETRIED)).toEqual(['loading', 'load']);
  });

  it('loads a snapshot when a change could not be applied', () => {
    atRest();
    after(changeReceived(6), failed('other'));
    expect(after(changeReceived(6))).toEqual(['retrying']);
    expect(after(RETRIED)).toEqual(['loading', 'load']);
  });

  it('loads again for the same cause after a load that failed', () => {
    atRest();
    after({ type: 'messagesMissed' }, { type: 'logPruned' }, RESUMED, failed('wrongDigest'));
    expect(after(RETRIED)).toEqual(['loading', 'load']);
    expect(machine.load).toBe('pruned');
  });

  it('pauses for longer after each failure, until a step succeeds', () => {
    const failures = () => machine.failures;
    after({ type: 'started' }, failed('unavailable'), RETRIED, failed('unavailable'));
    expect(failures()).toBe(2);
    after(RETRIED, loaded(5));
    expect(failures()).toBe(0);
  });

  it('records and acknowledges the change that was under way when it was stopped, and nothing else', () => {
    atRest();
    expect(after(changeReceived(6), { type: 'stop' })).toEqual(['stopping']);
    expect(after(applied(6))).toContain('acknowledge');
    expect([machine.phase, machine.inForce]).toEqual(['stopped', head(6)]);
    expect(after(headReceived(9), RESUMED)).toEqual(['stopped']);
  });

  it('refuses an outcome of a step that is not under way', () => {
    atRest();
    expect(() => after(applied(6))).toThrow("a follower that is idle cannot take 'applied'");
    expect(() => after(fetched(5))).toThrow("a follower that is idle cannot take 'fetched'");
    expect(() => after(RESUMED)).toThrow("a follower that is idle cannot take 'resumed'");
  });
});
