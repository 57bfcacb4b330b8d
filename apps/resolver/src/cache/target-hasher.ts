import { type HashKey, SuffixHashes } from '@weir/dns-name';
import { MAX_NAME_BYTES, type Response, TargetCursor } from '@weir/dns-wire';
import { MAX_TARGETS, TargetHashes } from '../query/target-hashes.js';

/** Computes the hashes of the targets of an answer, to be kept with it. Allocates nothing. */
export class TargetHasher {
  private readonly cursor = new TargetCursor();
  private readonly name = new Uint8Array(MAX_NAME_BYTES);
  private readonly hashes: SuffixHashes;

  constructor(key: HashKey) {
    this.hashes = new SuffixHashes(key);
  }

  /** @param out becomes `unknown` when not all targets can be kept */
  compute(response: Response, out: TargetHashes): void {
    out.clear(0);
    this.cursor.start(response);
    for (;;) {
      const size = this.cursor.next(this.name);
      if (size === TargetCursor.end) return;
      if (size === TargetCursor.malformed || !this.add(out)) {
        out.clear(TargetHashes.unknown);
        return;
      }
    }
  }

  private add(out: TargetHashes): boolean {
    const { hashes, name } = this;
    if (out.count === MAX_TARGETS || hashes.compute(name, 0) < 0) return false;
    if (out.size + hashes.savedWords > out.words.length) return false;
    out.size = hashes.save(out.words, out.size);
    out.count++;
    return true;
  }
}
