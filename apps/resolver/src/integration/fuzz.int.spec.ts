import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Fuzzer } from '../testing/fuzz/fuzzer.js';

/*
 * `npm run test:fuzz -- [--count n] [--seed n]` sends more packets than here. The seed is printed; it makes the same packets again, though
 * not the same order of events.
 */
const COUNT = Number(process.env['FUZZ_COUNT'] ?? 20_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
/** Packets after which memory is measured first: everything is compiled and all pools have their size. */
const WARM_UP = 10_000;
const PROGRESS = 100_000;
const PACKETS_PER_SECOND = 500;
/** Room for entries in flight, which are kept for reuse: how many there were at once depends on how busy the machine is. */
const MAX_GROWTH_BYTES = 48 * 2 ** 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

it(
  `sends nothing wrong, loses nothing and keeps nothing for ${COUNT} packets, sound and damaged`,
  async () => {
    process.stdout.write(`fuzz: ${COUNT} packets, seed ${SEED}\n`);
    const fuzzer = await Fuzzer.start();
    try {
      await fuzzer.run(SEED, WARM_UP, () => undefined);
      const before = usedBytes();
      const report = await fuzzer.run(SEED + WARM_UP, COUNT - WARM_UP, (sent) => {
        if (sent % PROGRESS < 64) process.stdout.write(`fuzz: ${sent + WARM_UP} sent\n`);
      });
      const grown = usedBytes() - before;
      const { answered, upstreamQueries } = report;
      const sent = report.sent + WARM_UP;
      process.stdout.write(
        `fuzz: ${sent} sent, ${answered} answered, ${upstreamQueries} asked of upstream, memory ${Math.round(grown / 1024)} KiB more\n`,
      );
      expect(report.faults, `seed ${SEED}`).toEqual([]);
      expect(report.defects).toBe(0);
      expect(answered).toBeGreaterThan(sent / 4);
      expect(upstreamQueries).toBeGreaterThan(sent / 20);
      expect(grown).toBeLessThan(MAX_GROWTH_BYTES);
    } finally {
      await fuzzer.stop();
    }
  },
  60_000 + (COUNT / PACKETS_PER_SECOND) * 1000,
);
