import { encodeChange, type Head, type Operation, RowError } from '@weir/config-model';
import { describe, expect, it } from 'vitest';
import {
  acknowledgementIntervalMs,
  MAX_PUBLISHED_BYTES,
  parseChangeMessage,
  parseHeadMessage,
  renderChangeMessages,
  renderHeadMessage,
} from './changes.js';
import { FEED_VERSION, type Traced } from './protocol.js';

const LINEAGE = '3f6c1c4e-8c57-4f0c-9d8e-0a5d3f0b1a01';
const digest = '0123456789abcdef';

describe('the messages of changes', () => {
  /** @param pages how many block pages it creates. */
  const change = (revision: number, pages = 1) => {
    const operations = Array.from({ length: pages }, (_, id): Operation => {
      return { type: 'put', kind: 'blockPage', entity: { id, type: 0 } };
    });
    return { revision, digest, operations };
  };
  const published = (...changes: ReturnType<typeof change>[]) =>
    changes.map((one) => ({ lineage: LINEAGE, ...encodeChange(one) }));
  const parsed = (...changes: ReturnType<typeof change>[]) =>
    changes.map((one) => ({ lineage: LINEAGE, ...one }));
  /** More than a message holds, and a bit more than half of it. */
  const [tooMany, half] = [20_000, 8_000];

  it('are one for all changes of a group', () => {
    const changes = [change(7), change(8, 3), change(9, 0)];
    const texts = renderChangeMessages(published(...changes));
    expect(texts.map(parseChangeMessage)).toEqual([
      { type: 'changes', changes: parsed(...changes) },
    ]);
  });

  it('have the trace of each change that has one, alone, in a group, and when only its head fits', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const changes = published(change(1), change(2), change(3, tooMany));
    const texts = renderChangeMessages(
      changes.map((one) => (one.revision === 1 ? one : { ...one, traceparent })),
    );
    const traces = texts
      .map(parseChangeMessage)
      .flatMap((message): readonly (Head & Traced)[] =>
        message.type === 'head' ? [message.head] : message.changes,
      )
      .map((one) => [one.revision, one.traceparent]);
    expect(traces).toEqual([
      [1, undefined],
      [2, traceparent],
      [3, traceparent],
    ]);
  });

  it('are several in order when a group is too large for one, and the head of a change that is too large', () => {
    const changes = [change(1, half), change(2, half), change(3, tooMany), change(4)];
    const texts = renderChangeMessages(published(...changes));
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(MAX_PUBLISHED_BYTES);
    const seen = texts
      .map(parseChangeMessage)
      .flatMap((message) =>
        message.type === 'head'
          ? [[message.head.revision, 'head']]
          : message.changes.map((one) => [one.revision, one.operations.length]),
      );
    expect(seen).toEqual([
      [1, half],
      [2, half],
      [3, 'head'],
      [4, 1],
    ]);
  });

  it.each([
    { changes: 1 },
    { changes: [1] },
    { changes: [{ revision: 1, digest }] },
    { changes: [{ revision: 1, digest, operations: [] }], lineage: 7 },
    { changes: [{ revision: 1, digest, operations: [] }] },
    { revision: 1, digest, operations: [] },
    { revision: 1, digest },
  ])('cannot be %j', (value) => {
    const text = JSON.stringify({ ...value, feedVersion: FEED_VERSION });
    expect(() => parseChangeMessage(text)).toThrow(RowError);
  });
});

describe('the message of a head', () => {
  const head = { lineage: LINEAGE, revision: 7, digest };

  it('tells how often a follower may acknowledge', () => {
    const message = { head, acknowledgementIntervalMs: 50 };
    expect(parseHeadMessage(renderHeadMessage(message))).toEqual(message);
  });

  it.each([undefined, null, -1, '50', 101])('cannot tell them %j', (acknowledgementIntervalMs) => {
    const text = JSON.stringify({ ...head, acknowledgementIntervalMs, feedVersion: FEED_VERSION });
    expect(() => parseHeadMessage(text)).toThrow(RowError);
  });

  it('asks many followers to acknowledge less often, and none to wait for longer than a tenth of a second', () => {
    expect([0, 3, 19, 20, 200, 1_000, 2_000].map(acknowledgementIntervalMs)).toEqual([
      0, 0, 0, 1, 10, 50, 100,
    ]);
    expect(acknowledgementIntervalMs(1e6)).toBe(100);
  });
});
