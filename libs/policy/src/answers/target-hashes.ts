import { type HashKey, SuffixHashes } from '@weir/dns-name';
import { AnswerChain, ChainStatus, type Response } from '@weir/dns-wire';

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

/** Computes the hashes of the targets of an answer, to be kept with it. Allocates nothing. */
export class TargetHasher {
  private readonly chain = new AnswerChain();
  private readonly hashes: SuffixHashes;

  constructor(key: HashKey) {
    this.hashes = new SuffixHashes(key);
  }

  /** @param out becomes `unknown` when not all targets can be kept */
  compute(response: Response, out: TargetHashes): void {
    const { chain } = this;
    out.clear(0);
    let isKept = chain.walk(response) === ChainStatus.whole;
    for (let i = 0; isKept && i < chain.targetCount; i++) isKept = this.add(chain.targetAt(i), out);
    if (!isKept) out.clear(TargetHashes.unknown);
  }

  private add(nameAt: number, out: TargetHashes): boolean {
    const { hashes, chain } = this;
    if (hashes.compute(chain.names, nameAt) < 0) return false;
    if (out.size + hashes.savedWords > out.words.length) return false;
    out.size = hashes.save(out.words, out.size);
    out.count++;
    return true;
  }
}
