import { describe, expect, it } from 'vitest';
import { QueryCounters } from '../metrics/query-counters.js';
import { UnreadBytes } from './unread-bytes.js';

const KIB = 1024;

function start(maxBytes: number) {
  const counters = new QueryCounters();
  const unread = new UnreadBytes(maxBytes, counters);
  const closed: string[] = [];
  const open = (name: string) => {
    const connection = { destroy: () => closed.push(name) };
    unread.open(connection);
    return connection;
  };
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
    unread.set(a, 300 * KIB);
    unread.set(b, 400 * KIB);
    unread.set(c, 300 * KIB);
    expect(closed).toEqual([]);
    unread.set(c, 301 * KIB);
    expect(closed).toEqual(['b']);
    expect(unread.total).toBe(601 * KIB);
    expect(dropped()).toEqual({ memory: 1 });
  });

  it('closes a connection with more than half a megabyte, and no other one with it', () => {
    const { unread, closed, open, dropped } = start(600 * KIB);
    const [a, b] = ['a', 'b'].map(open);
    unread.set(a, 300 * KIB);
    unread.set(b, 10 * KIB);
    unread.set(b, 513 * KIB);
    expect(closed).toEqual(['b']);
    expect(unread.total).toBe(300 * KIB);
    expect(dropped()).toEqual({ unread: 1 });
  });

  it('forgets the bytes of closed connections, whatever is told about them later', () => {
    const { unread, open } = start(1000 * KIB);
    const [a, b] = ['a', 'b'].map(open);
    unread.set(a, 5);
    unread.set(b, 7);
    unread.close(a);
    unread.set(a, 9);
    unread.close(a);
    expect(unread.total).toBe(7);
  });
});
