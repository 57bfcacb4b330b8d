import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Fuzzer } from '../testing/fuzz/fuzzer.js';
import { fuzzStreams } from '../testing/fuzz/stream-fuzzer.js';

/*
 * `FUZZ_COUNT=n FUZZ_STREAMS=n FUZZ_SEED=n npm run test:fuzz` sends more than here. The seed is printed. The same
 * seed gives the same packets and streams, but not the same order of events. The first ones are those of a fixed seed.
 */
const FIXED_SEED = 1;
const STREAMS = Number(process.env['FUZZ_STREAMS'] ?? 300);
const STREAMS_PER_PART = 100;
const STREAMS_PER_SECOND = 2;
const COUNT = Number(process.env['FUZZ_COUNT'] ?? 20_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const AGAIN = `again: FUZZ_COUNT=${COUNT} FUZZ_STREAMS=${STREAMS} FUZZ_SEED=${SEED} npm run test:fuzz`;
/**
 * Number of packets before the first memory measurement: by then everything is compiled and all pools have their size.
 */
const WARM_UP = Math.min(10_000, COUNT / 2);
const PROGRESS = 100_000;
const PACKETS_PER_SECOND = 500;
/** Room for pooled entries of queries in flight. Their number depends on how busy the machine is. */
const MAX_GROWTH_BYTES = 48 * 2 ** 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

it(
  `answers ${COUNT} valid and damaged packets correctly, without losses or memory growth`,
  async () => {
    process.stdout.write(`fuzz: ${COUNT} packets; ${AGAIN}\n`);
    const fuzzer = await Fuzzer.start();
    try {
      await fuzzer.run(FIXED_SEED, WARM_UP, () => undefined);
      const before = usedBytes();
      const report = await fuzzer.run(SEED + WARM_UP, COUNT - WARM_UP, (sent) => {
        if (sent % PROGRESS < 64) process.stdout.write(`fuzz: ${sent + WARM_UP} sent\n`);
      });
      const grown = usedBytes() - before;
      const { answered, upstreamQueries, rcodes } = report;
      const sent = report.sent + WARM_UP;
      process.stdout.write(
        `fuzz: ${sent} sent, ${answered} answered, ${upstreamQueries} upstream queries, ` +
          `memory ${Math.round(grown / 1024)} KiB more, ` +
          `answers by RCODE ${JSON.stringify([...rcodes])}\n`,
      );
      expect(report.faults, AGAIN).toEqual([]);
      expect(report.defects).toBe(0);
      expect(answered).toBeGreaterThan(sent / 4);
      expect(upstreamQueries).toBeGreaterThan(sent / 20);
      expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
    } finally {
      await fuzzer.stop();
    }
  },
  180_000 + (COUNT / PACKETS_PER_SECOND) * 1000,
);

it(
  `survives ${STREAMS} streams over TLS and HTTPS, as a rule broken, and answers after each one`,
  async () => {
    process.stdout.write(`fuzz: ${STREAMS} streams; ${AGAIN}\n`);
    const fuzzer = await Fuzzer.start();
    try {
      let before = 0;
      for (let sent = 0; sent < STREAMS; sent += STREAMS_PER_PART) {
        await fuzzStreams(
          fuzzer.securePorts,
          sent === 0 ? FIXED_SEED : SEED + sent,
          Math.min(STREAMS_PER_PART, STREAMS - sent),
        );
        if (sent === 0) before = usedBytes();
      }
      const grown = usedBytes() - before;
      process.stdout.write(
        `fuzz: ${STREAMS} streams sent, memory ${Math.round(grown / 1024)} KiB more\n`,
      );
      expect(fuzzer.defects).toBe(0);
      expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
      // The service ends only when no connection is left.
    } finally {
      await fuzzer.stop();
    }
  },
  180_000 + (STREAMS / STREAMS_PER_SECOND) * 1000,
);
