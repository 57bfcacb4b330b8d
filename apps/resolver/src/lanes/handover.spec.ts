import { encodeQuery } from '@weir/dns-wire/testing';
import { expect, it } from 'vitest';
import { DropReason, Exchange, type ReplyPath } from '../query/exchange.js';
import { ForwardResult } from '../upstream/forward-result.js';
import { createHandoverRing, HandoverReader, HandoverWriter } from './handover-ring.js';
import { Handover } from './handover.js';
import { LaneCounts } from './lane-counts.js';

it('a full ring takes no more queries: those that may have another answer are refused, not dropped', () => {
  const ring = createHandoverRing(64);
  const counts = new LaneCounts(new Float64Array(LaneCounts.size));
  const drops: DropReason[] = [];
  const replyPath = { drop: (why: DropReason) => drops.push(why) } as unknown as ReplyPath;
  let misses = 0;
  const handover = new Handover({
    ring: new HandoverWriter(ring),
    paths: [replyPath],
    counts,
    cache: { forgetMiss: () => misses++ },
    isMainLate: () => false,
    nowMs: () => 0,
    wake: new Int32Array(new SharedArrayBuffer(4)),
  });
  const exchange = new Exchange();
  exchange.bytes = encodeQuery('www.example.com', 1);
  exchange.length = exchange.bytes.length;
  exchange.replyPath = replyPath;
  expect(handover.forward(exchange)).toBe(ForwardResult.taken);
  expect(handover.forward(exchange)).toBe(ForwardResult.refused);
  expect(handover.refresh(exchange)).toBe(false);
  expect({ drops, misses }).toEqual({ drops: [], misses: 1 });
  // It is for the main thread only, which writes the log.
  handover.handle(exchange);
  expect(drops).toEqual([DropReason.handover]);
  expect(counts).toMatchObject({ handedOver: 1, notHandedOver: 3 });
  expect(new HandoverReader(ring).read(new Exchange(), new Uint8Array(512))).toBe(true);
  expect(handover.forward(exchange)).toBe(ForwardResult.taken);
});
