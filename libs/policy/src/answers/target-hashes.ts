/** 32 targets of seven labels. */
const MAX_WORDS = 512;

/**
 * The hashes of the targets of an answer, kept beside it, so that they are not computed for each client. `count` runs
 * of words, one for each target, see `SuffixHashes.save`.
 */
export class TargetHashes {
  /** The hashes are not known: the answer has too many, or a malformed target. */
  static readonly unknown = -1;

  readonly words = new Int32Array(MAX_WORDS);
  /** Number of words in use. */
  size = 0;
  /** Number of targets, or `unknown`. */
  count: number = TargetHashes.unknown;

  /** Forgets what it holds. */
  clear(count: number): void {
    this.size = 0;
    this.count = count;
  }
}
