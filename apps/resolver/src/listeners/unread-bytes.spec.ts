import { describe, expect, it } from 'vitest';
import { QueryCounters } from '../metrics/query-counters.js';
import { UnreadBytes } from './unread-bytes.js';

const KIB = 1024;

function start(maxBytes: number) {
  const counters = new QueryCounters();
  const unread = new UnreadBytes(maxBytes, counters);
  const closed: string[] = [];
  const open = (name: string) => unread.open({ destroy: () => closed.push(name) });
  const dropped = () =>
    Object.fromEntries(
      counters
        .droppedCounts()
        .filter(([, count]) => count > 0)
        .map(([{ why }, count]) => [why, count]),
    );
  return { unread, closed, open, dropped };
}

describe('UnreadBytes', () => {
  it('closes those with the most first, and no more than needed', () => {
    const { unread, closed, open, dropped } = start(1000 * KIB);
    const [a, b, c] = ['a', 'b', 'c'].map(open);
    a.set(300 * KIB);
    b.set(400 * KIB);
    c.set(300 * KIB);
    expect(closed).toEqual([]);
    c.set(301 * KIB);
    expect(closed).toEqual(['b']);
    expect(unread.total).toBe(601 * KIB);
    expect(dropped()).toEqual({ memory: 1 });
  });

  it('closes a connection with more than half a megabyte, and no other one with it', () => {
    const { unread, closed, open, dropped } = start(600 * KIB);
    const [a, b] = ['a', 'b'].map(open);
    a.set(300 * KIB);
    b.set(10 * KIB);
    b.set(513 * KIB);
    expect(closed).toEqual(['b']);
    expect(unread.total).toBe(300 * KIB);
    expect(dropped()).toEqual({ unread: 1 });
  });

  it('forgets the bytes of closed connections, whatever is told about them later', () => {
    const { unread, open } = start(1000 * KIB);
    const [a, b] = ['a', 'b'].map(open);
    a.set(5);
    b.set(7);
    a.close();
    a.set(9);
    a.close();
    expect(unread.total).toBe(7);
  });
});
