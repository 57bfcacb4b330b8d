import { MAX_DATAGRAM_BYTES } from '@weir/udp-batch';
import { hexOf } from '@weir/dns-wire/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Exchange } from '../query/exchange.js';
import { createHandoverRing, HandoverKind, HandoverReader, HandoverWriter } from './handover.js';

function exchangeOf(seed: number, length: number): Exchange {
  const exchange = new Exchange();
  exchange.bytes = Uint8Array.from({ length }, (_, i) => (seed + i) & 0xff);
  exchange.length = length;
  if (seed % 2 === 0) exchange.client.setIpv4(0xc000_0200 + (seed & 0xff), seed & 0xffff);
  else exchange.client.set(`2001:db8::${(seed & 0xfff).toString(16)}`, seed & 0xffff);
  exchange.nameHashLow = Math.imul(seed, 0x9e37_79b1);
  exchange.nameHashHigh = ~seed;
  exchange.route.set(Int32Array.from(exchange.route, (_, i) => Math.imul(seed, i + 1)));
  return exchange;
}

/** What the main thread must see of it. */
const seen = (exchange: Exchange, socket: number, kind: number) => ({
  bytes: hexOf(exchange.bytes.subarray(0, exchange.length)),
  family: exchange.client.family,
  words: [...exchange.client.words],
  port: exchange.client.port,
  hash: [exchange.nameHashLow, exchange.nameHashHigh],
  route: [...exchange.route],
  socket,
  kind,
});

const KINDS = Object.values(HandoverKind);

describe('the ring of handed-over queries', () => {
  it('brings each query as it was written, in order, however far the reader is behind', () => {
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({ length: fc.integer({ min: 0, max: 3000 }) }),
      },
      { weight: 2, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constant('all' as const) },
    );
    let refused = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 200, maxLength: 400 }), (steps) => {
        const memory = createHandoverRing(2 ** 11);
        const writer = new HandoverWriter(memory);
        const reader = new HandoverReader(memory);
        const buffer = new Uint8Array(MAX_DATAGRAM_BYTES);
        const got = new Exchange();
        const expected: object[] = [];
        let seed = 0;
        const readOne = (): void => {
          expect(reader.read(got, buffer)).toBe(expected.length > 0);
          const next = expected.shift();
          if (next === undefined) return;
          expect(
            seen(got, reader.socket, reader.isRefresh ? HandoverKind.refresh : got.stage),
          ).toEqual(next);
        };
        for (const one of steps) {
          if (one === 'all') while (expected.length > 0) readOne();
          else if (one === null) readOne();
          else {
            const exchange = exchangeOf(++seed, one.length);
            const kind = KINDS[seed % KINDS.length];
            if (writer.write(exchange, seed % 16, kind, 1000 + seed / 8)) {
              expected.push(seen(exchange, seed % 16, kind));
            } else refused++;
          }
        }
        while (expected.length > 0) readOne();
        expect(reader.isEmpty).toBe(true);
      }),
      { numRuns: 20, endOnFailure: true },
    );
    expect(refused).toBeGreaterThan(0);
  });

  it('takes the longest query', () => {
    const memory = createHandoverRing();
    const exchange = exchangeOf(1, MAX_DATAGRAM_BYTES);
    const buffer = new Uint8Array(MAX_DATAGRAM_BYTES);
    expect(new HandoverWriter(memory).write(exchange, 0, HandoverKind.received, 0)).toBe(true);
    expect(new HandoverReader(memory).read(new Exchange(), buffer)).toBe(true);
    expect(hexOf(buffer)).toBe(hexOf(exchange.bytes));
  });

  it('keeps the time of arrival', () => {
    const memory = createHandoverRing();
    const got = new Exchange();
    for (const ms of [0.001, 1, 12_345.678, 10 * 365 * 86_400_000]) {
      expect(
        new HandoverWriter(memory).write(exchangeOf(1, 20), 0, HandoverKind.received, ms),
      ).toBe(true);
      expect(new HandoverReader(memory).read(got, new Uint8Array(512))).toBe(true);
      expect(got.arrivedMs).toBeCloseTo(ms, 2);
    }
  });
});
