// The lower bound that memory sets. For each outcome it makes the reads that depend on one another, at random
// places of arrays as large as the data structures, and nothing else. The reads of a step run in parallel; a step
// starts when the one before has ended.
import { randomNumbers } from './names.mjs';

const CHAINS = 1 << 20;
const LABELS = 5;
/** Words in which all that is read of a profile's rules lies: a hundred of them. */
const RULES_BLOCK = 314;

const FIND = [{ roots: 1 }, { nodes: 1 }];
const ASK = [...FIND, { records: 1 }, { rules: LABELS, filter: LABELS }];
const LIST = [...ASK, { hashes: 1, setNumbers: 1, lists: 1 }];
const STEPS = {
  'no profile': FIND,
  'nothing matches': ASK,
  'domain rule': ASK,
  'application rule': LIST,
  category: LIST,
  white_list_only: ASK,
  'Zipf names, a third behind NAPT': ASK,
};

function filled(bytes) {
  const words = new Int32Array(Math.max(RULES_BLOCK + 1, bytes >>> 2));
  const random = randomNumbers(words.length);
  for (let i = 0; i < words.length; i++) words[i] = random();
  return words;
}

/**
 * One read for each row: its array, the number of words to choose from at the step's place, and whether it ends a step.
 */
function readsOf(steps, arrays) {
  return steps.flatMap((step) => {
    const reads = Object.entries(step).flatMap(([part, count]) =>
      Array.from({ length: count }, () => ({
        array: arrays[part],
        block: part === 'rules' ? RULES_BLOCK : 0,
        endsStep: false,
      })),
    );
    reads[reads.length - 1].endsStep = true;
    return reads;
  });
}

/** @returns ns by outcome, and the last word, which keeps the reads alive. */
function measureReads(bytes, cpuMs) {
  const arrays = Object.fromEntries(
    Object.entries(bytes).map(([part, size]) => [part, filled(size)]),
  );
  let word = 0;
  const walk = (reads) => {
    const from = reads.map(({ array }) => array);
    const blocks = Int32Array.from(reads, ({ block }) => block);
    const ends = Uint8Array.from(reads, ({ endsStep }) => (endsStep ? 1 : 0));
    // A chain starts after the one before has ended; otherwise the processor could read several at once.
    for (let chain = 0; chain < CHAINS; chain++) {
      let next = 0;
      for (let i = 0; i < from.length; i++) {
        const array = from[i];
        const block = blocks[i];
        const any = scatter(word ^ i);
        // Anywhere, told by the words of the step before; of a block, anywhere in the same one.
        const place =
          block === 0
            ? within(any, array.length)
            : within(scatter(word), array.length - block) + within(any, block);
        next ^= array[place];
        if (ends[i] !== 0) {
          word = next ^ chain;
          next = 0;
        }
      }
    }
  };
  const ns = {};
  for (const [outcome, steps] of Object.entries(STEPS)) {
    const reads = readsOf(steps, arrays);
    walk(reads);
    const beforeMs = cpuMs();
    walk(reads);
    walk(reads);
    ns[outcome] = ((cpuMs() - beforeMs) / CHAINS / 2) * 1e6;
  }
  return { ns, word };
}

/**
 * Waiting alone: the time of the reads minus the time of the same reads in the processor's nearest cache.
 * @param bytes of each part. @returns ns by outcome, and words that keep the reads alive.
 */
export function measureFloor(bytes, cpuMs) {
  const near = Object.fromEntries(Object.keys(bytes).map((part) => [part, 0]));
  const loop = measureReads(near, cpuMs);
  const all = measureReads(bytes, cpuMs);
  const floor = Object.fromEntries(
    Object.entries(all.ns).map(([outcome, ns]) => [outcome, Math.max(0, ns - loop.ns[outcome])]),
  );
  return { floor, word: all.word ^ loop.word };
}

function scatter(word) {
  const mixed = Math.imul(word ^ (word >>> 15), 0x85eb_ca6b);
  return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35) >>> 0;
}

function within(any, length) {
  return Math.floor(any * (length / 2 ** 32));
}
