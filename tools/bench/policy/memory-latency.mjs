// Latency of the machine's memory. A decision with N dependent reads cannot be faster than N times the first number.
import { randomNumbers } from './names.mjs';

const WORDS = 1 << 24;
const READS = 1 << 21;

/** @returns ns a random read of 64 MB, when each depends on the one before, and when none does. */
export function measureLatency(cpuMs) {
  const words = new Int32Array(WORDS);
  for (let i = 0; i < WORDS; i++) words[i] = i;
  const random = randomNumbers(99);
  // One cycle through all (Sattolo).
  for (let i = WORDS - 1; i > 0; i--) {
    const j = random() % i;
    const word = words[i];
    words[i] = words[j];
    words[j] = word;
  }
  let at = 0;
  const chase = () => {
    for (let i = 0; i < READS; i++) at = words[at];
  };
  const scatter = () => {
    for (let i = 0; i < READS; i++) at ^= words[Math.imul(i, 0x9e37_79b1) >>> 8];
    at &= WORDS - 1;
  };
  const time = (run) => {
    run();
    const beforeMs = cpuMs();
    run();
    run();
    return ((cpuMs() - beforeMs) / READS / 2) * 1e6;
  };
  return { dependentNs: time(chase), independentNs: time(scatter), at };
}
