/** A revision with the digest of the configuration that a follower has in force. */
export interface Claim {
  readonly revision: number;
  readonly digest: string;
}

/**
 * What followers say about revisions that are newer than all that a replica of the control plane knows. The log has
 * such a revision, or had it and has lost it: a read of the head that begins later tells.
 */
export class Claims {
  private readonly unjudged = new Map<string, { readonly claim: Claim; readonly number: number }>();
  private highestRevision = -1;
  private made = 0;

  /** How many there have been; the number of the latest. */
  get count(): number {
    return this.made;
  }

  /** The highest revision of those that no read has judged; -1: there is none. */
  get highest(): number {
    return this.highestRevision;
  }

  add(claim: Claim): void {
    const key = keyOf(claim);
    if (this.unjudged.has(key)) return;
    this.unjudged.set(key, { claim, number: ++this.made });
    this.highestRevision = Math.max(this.highestRevision, claim.revision);
  }

  /**
   * @param head revision of the log, by a read that began after the first `count` claims.
   * @returns those that the log has lost. They are no longer claims, nor are those that it has passed.
   */
  judge(head: number, count: number): Claim[] {
    const lost: Claim[] = [];
    this.highestRevision = -1;
    for (const [key, { claim, number }] of this.unjudged) {
      const isPassed = claim.revision <= head;
      if (!isPassed && number <= count) lost.push(claim);
      if (isPassed || number <= count) this.unjudged.delete(key);
      else this.highestRevision = Math.max(this.highestRevision, claim.revision);
    }
    return lost;
  }

  clear(): void {
    this.unjudged.clear();
    this.highestRevision = -1;
  }
}

/** The same configuration may come back at another revision, so a digest alone is no key. */
export function keyOf({ revision, digest }: Claim): string {
  return `${revision} ${digest}`;
}
