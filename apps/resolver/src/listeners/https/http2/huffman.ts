/** Bits of the code of each byte, then of EOS (RFC 7541 appendix B). The code is canonical, so they say all of it. */
const CODE_BITS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5,
  6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6,
  7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23,
  23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
  22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22,
  23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27,
  27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25,
  24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];
const EOS = 256;
/** Bits that the decoder takes at a time. */
const STEP_BITS = 4;
const STEPS = 1 << STEP_BITS;
const NO_BYTE = -1;
const INVALID = -1;
/** The longest padding, which begins as EOS does: only ones. */
const MAX_PADDING_BITS = 7;

/** The decoder after four bits more. A state is an inner node of the code's tree; 0 is its root. */
class Transitions {
  /** By state and bits: the next state. */
  readonly next: Int16Array;
  /** By state and bits: the byte that they complete, or `NO_BYTE`. */
  readonly bytes: Int16Array;
  /** Whether a string may end in a state. */
  readonly isEnd: Uint8Array;

  constructor() {
    const children = buildTree();
    const states = children.length / 2;
    this.next = new Int16Array(states * STEPS);
    this.bytes = new Int16Array(states * STEPS).fill(NO_BYTE);
    this.isEnd = new Uint8Array(states);
    for (let state = 0; state < states; state++) {
      for (let bits = 0; bits < STEPS; bits++) this.set(children, state, bits);
    }
    for (let bits = 0, state = 0; bits <= MAX_PADDING_BITS; bits++) {
      this.isEnd[state] = 1;
      state = children[2 * state + 1];
    }
  }

  private set(children: readonly number[], state: number, bits: number): void {
    const at = state * STEPS + bits;
    let node = state;
    for (let left = STEP_BITS - 1; left >= 0; left--) {
      node = children[2 * node + ((bits >> left) & 1)];
      if (node >= 0) continue;
      const byte = -1 - node;
      if (byte === EOS) return void (this.next[at] = INVALID);
      this.bytes[at] = byte;
      node = 0;
    }
    this.next[at] = node;
  }
}

/** @returns by inner node, its two children: an inner node, or −1 less the byte of a leaf */
function buildTree(): number[] {
  const symbols = [...CODE_BITS.keys()].sort((a, b) => CODE_BITS[a] - CODE_BITS[b] || a - b);
  const children = [0, 0];
  let code = 0;
  let bits = CODE_BITS[symbols[0]];
  for (const symbol of symbols) {
    code *= 2 ** (CODE_BITS[symbol] - bits);
    bits = CODE_BITS[symbol];
    let node = 0;
    for (let left = bits - 1; left > 0; left--) {
      const child = 2 * node + ((code >> left) & 1);
      if (children[child] === 0) {
        children[child] = children.length / 2;
        children.push(0, 0);
      }
      node = children[child];
    }
    children[2 * node + (code & 1)] = -1 - symbol;
    code++;
  }
  return children;
}

const { next, bytes: completed, isEnd } = new Transitions();

/**
 * Decodes the string in `bytes[start, end)` (RFC 7541 §5.2) into `target`, which has room for 8/5 of its length.
 * @returns the length of the result, or −1 when this is not Huffman code
 */
export function decodeHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
): number {
  let length = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    for (let shift = STEP_BITS; shift >= 0; shift -= STEP_BITS) {
      const step = state * STEPS + ((bytes[at] >> shift) & (STEPS - 1));
      state = next[step];
      if (state === INVALID) return INVALID;
      if (completed[step] !== NO_BYTE) target[length++] = completed[step];
    }
  }
  return isEnd[state] === 1 ? length : INVALID;
}
