import { type HashKey, SuffixHashes } from '@weir/dns-name';
import { AnswerChain, ChainStatus, type Response } from '@weir/dns-wire';
import { TargetHashes } from '@weir/policy/answers';

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
