import type { Space } from './memory/space.js';

const WORDS = 2;
const LOW = 0;
const HIGH = 1;
const TWO_TO_32 = 4_294_967_296;

/** The few numbers of a policy that are not in one of its structures. */
export class PolicyHead {
  private readonly words: Int32Array;

  /** In the thread that writes, an empty space gets its memory. */
  constructor(space: Space) {
    this.words = space.chunks.length === 0 ? space.add(WORDS) : space.chunks[0];
  }

  get revision(): number {
    return this.words[HIGH] * TWO_TO_32 + (this.words[LOW] >>> 0);
  }

  set revision(revision: number) {
    this.words[HIGH] = Math.floor(revision / TWO_TO_32);
    this.words[LOW] = revision | 0;
  }
}
