/** The DNS answers that a version must give, one text for each probe of the key. */
export type ExpectedAnswers = readonly string[];

/**
 * All versions of one key in the order in which its only writer requested them. Version 0 is the state before.
 * A version that the API must refuse is in the list too; a resolver must never show it.
 */
export class KeyHistory {
  private readonly versions: { readonly answers: ExpectedAnswers; readonly refused: boolean }[];
  /** Newest version known to be applied. */
  applied = 0;

  constructor(initial: ExpectedAnswers) {
    this.versions = [{ answers: initial, refused: false }];
  }

  /** Adds a version before it is requested. @returns its number. */
  request(answers: ExpectedAnswers, refused = false): number {
    return this.versions.push({ answers, refused }) - 1;
  }

  /** Newest version that was requested. */
  get requested(): number {
    return this.versions.length - 1;
  }

  answers(version: number): ExpectedAnswers {
    return this.versions[version].answers;
  }

  /**
   * The earliest version, not before `minVersion`, that gives this answer to the probe. Null: the answer is of an
   * older version, of a refused one, or of none. Always taking the earliest accepts every sequence of answers that
   * has an order without a step back.
   */
  earliest(minVersion: number, probe: number, seen: string): number | null {
    for (let version = minVersion; version < this.versions.length; version++) {
      const { answers, refused } = this.versions[version];
      if (!refused && answers[probe] === seen) return version;
    }
    return null;
  }
}

/** For one resolver: the oldest version of each key that its next answer may show. */
export class LowerBounds {
  private readonly seen = new Map<KeyHistory, number>();
  private readonly acknowledged = new Map<KeyHistory, number>();
  private isRewinding = false;

  /** Forgets everything. @returns a function; nothing is learnt before it is called. */
  rewind(): () => void {
    this.isRewinding = true;
    this.seen.clear();
    this.acknowledged.clear();
    return () => {
      this.isRewinding = false;
    };
  }

  /** The oldest version that the next answer may show. */
  minVersion(key: KeyHistory): number {
    return Math.max(this.seen.get(key) ?? 0, this.acknowledged.get(key) ?? 0);
  }

  /** The resolver showed this version. The same process may show nothing older from now on. */
  noteSeen(key: KeyHistory, version: number): void {
    if (this.isRewinding) return;
    if (version > (this.seen.get(key) ?? 0)) this.seen.set(key, version);
  }

  /** The resolver acknowledged this version. Neither it nor a restarted process may show anything older. */
  noteAcknowledged(key: KeyHistory, version: number): void {
    if (version > (this.acknowledged.get(key) ?? 0)) this.acknowledged.set(key, version);
  }

  /** The process was restarted: what it acknowledged still binds it, what it showed does not. */
  restart(): void {
    this.seen.clear();
  }
}
