// The least that memory allows: each outcome of a decision has reads none of which can begin before the one before has ended. They are
// made here, at random places of arrays as large as the structures are, with nothing else between.
import { randomNumbers } from './names.mjs';

const CHAINS = 1 << 20;

/**
 * Where a decision reads one thing after the other. What goes on at the same time is left out: the catalogue's filter beside the
 * network, the rules' filter beside the profile.
 */
const STEPS = {
  'no profile': ['networks'],
  'nothing speaks against it': ['networks', 'rules'],
  'domain rule': ['networks', 'rules', 'rules'],
  'application rule': ['networks', 'profiles', 'profiles', 'catalogue', 'catalogue'],
  category: ['networks', 'profiles', 'profiles', 'catalogue', 'catalogue'],
  white_list_only: ['networks', 'rules'],
};

function filled(bytes) {
  const words = new Int32Array(Math.max(1, bytes >>> 2));
  const random = randomNumbers(words.length);
  for (let i = 0; i < words.length; i++) words[i] = random();
  return words;
}

/** @param bytes of `networks`, `profiles`, `rules`, `catalogue`. @returns ns by outcome, and the last word, which keeps the reads alive. */
export function measureFloor(bytes, cpuMs) {
  const parts = Object.fromEntries(
    Object.entries(bytes).map(([part, size]) => [part, filled(size)]),
  );
  let word = 0;
  const walk = (arrays) => {
    // Nor can a chain begin before the one before has ended: then the processor could read several at once.
    for (let chain = 0; chain < CHAINS; chain++) {
      for (let i = 0; i < arrays.length; i++) {
        const array = arrays[i];
        // Any place of the array, told by the word read before.
        const place = Math.floor(
          (Math.imul(word ^ i, 0x85eb_ca6b) >>> 0) * (array.length / 2 ** 32),
        );
        word = array[place] ^ chain;
      }
    }
  };
  const floor = {};
  for (const [outcome, steps] of Object.entries(STEPS)) {
    const arrays = steps.map((part) => parts[part]);
    walk(arrays);
    const beforeMs = cpuMs();
    walk(arrays);
    walk(arrays);
    floor[outcome] = ((cpuMs() - beforeMs) / CHAINS / 2) * 1e6;
  }
  return { floor, word };
}
