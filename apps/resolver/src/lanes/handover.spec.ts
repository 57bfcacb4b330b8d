import { encodeQuery } from '@weir/dns-wire/testing';
import { expect, it } from 'vitest';
import {
  DropReason,
  Exchange,
  ForwardResult,
  QueryStage,
  type ReplyPath,
} from '../query/exchange.js';
import { OwnQuestion } from '../query/question.js';
import { createHandoverRing, Handover, HandoverReader, HandoverWriter } from './handover.js';
import { LaneCounts } from './lane-counts.js';

function createHandover(words: number) {
  const ring = createHandoverRing(words);
  const counts = new LaneCounts(new Float64Array(LaneCounts.size));
  const drops: DropReason[] = [];
  const replyPath = { drop: (why: DropReason) => drops.push(why) } as unknown as ReplyPath;
  const misses = { forgotten: 0 };
  const handover = new Handover({
    ring: new HandoverWriter(ring),
    paths: [replyPath],
    counts,
    cache: { uncountMiss: () => misses.forgotten++ },
    isMainLate: () => false,
    nowMs: () => 0,
    wake: new Int32Array(new SharedArrayBuffer(4)),
  });
  const exchange = new Exchange();
  exchange.bytes = encodeQuery('www.example.com', 1);
  exchange.length = exchange.bytes.length;
  exchange.replyPath = replyPath;
  return { handover, exchange, reader: new HandoverReader(ring), counts, drops, misses };
}

it('a full ring takes no more queries: those that may have another answer are refused, not dropped', () => {
  const { handover, exchange, reader, counts, drops, misses } = createHandover(64);
  expect(handover.forward(exchange, exchange)).toBe(ForwardResult.taken);
  expect(handover.forward(exchange, exchange)).toBe(ForwardResult.refused);
  expect(handover.refresh(exchange)).toBe(false);
  expect({ drops, misses }).toEqual({ drops: [], misses: { forgotten: 1 } });
  // It is for the main thread only, which writes the log.
  handover.handle(exchange);
  expect(drops).toEqual([DropReason.handover]);
  expect(counts).toMatchObject({ handedOver: 1, notHandedOver: 3 });
  expect(reader.read(new Exchange(), new Uint8Array(512))).toBe(true);
  expect(handover.forward(exchange, exchange)).toBe(ForwardResult.taken);
});

it('the main thread decides what is asked for the target of a rewrite, and whatever was not decided', () => {
  const { handover, exchange, reader } = createHandover(1024);
  const target = new OwnQuestion();
  target.copyFrom(exchange);
  handover.forward(exchange, exchange);
  handover.forward(exchange, target);
  handover.handle(exchange);
  const got = new Exchange();
  const stages: QueryStage[] = [];
  while (reader.read(got, new Uint8Array(512))) stages.push(got.stage);
  expect(stages).toEqual([QueryStage.missed, QueryStage.admitted, QueryStage.received]);
});
