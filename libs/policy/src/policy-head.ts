import type { Space } from './memory/space.js';

const WORDS = 2;
const LOW = 0;
const HIGH = 1;
const TWO_TO_32 = 4_294_967_296;

/** The few numbers of a policy that are not in one of its structures. */
export class PolicyHead {
  /** In the thread that writes, an empty space gets its memory. */
  constructor(private readonly space: Space) {
    if (space.chunks.length === 0) space.add(WORDS);
  }

  get revision(): number {
    const [words] = this.space.chunks;
    return words[HIGH] * TWO_TO_32 + (words[LOW] >>> 0);
  }

  set revision(revision: number) {
    const words = this.space.own(0);
    words[HIGH] = Math.floor(revision / TWO_TO_32);
    words[LOW] = revision | 0;
  }
}
