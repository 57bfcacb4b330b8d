/** What DNS shows of a version, one text for each probe of the key. */
export type Appearance = readonly string[];

interface Version {
  readonly appearance: Appearance;
  readonly refused: boolean;
}

/**
 * All versions of one key in the order in which its only writer asked for them; version 0 is what was there before.
 * A version that must be refused stands among them, so that its number is never seen in force.
 */
export class KeyHistory {
  private readonly versions: Version[];
  /** Newest version known to be applied. */
  applied = 0;

  constructor(initial: Appearance) {
    this.versions = [{ appearance: initial, refused: false }];
  }

  /** Notes a version before it is asked for; answers its number. */
  request(appearance: Appearance, refused = false): number {
    return this.versions.push({ appearance, refused }) - 1;
  }

  settle(version: number): void {
    this.applied = version;
  }

  /** Newest version asked for. */
  get requested(): number {
    return this.versions.length - 1;
  }

  appearance(version: number): Appearance {
    const found = this.versions[version];
    if (found === undefined) throw new RangeError(`no version ${version}`);
    return found.appearance;
  }

  /**
   * The earliest version from `floor` on that looks like this to the probe; null when there is none: then what was
   * seen is older than the floor, was refused, or was never asked for. Taking the earliest each time finds a
   * monotone reading of a sequence whenever there is one.
   */
  earliest(floor: number, probe: number, seen: string): number | null {
    for (let version = floor; version < this.versions.length; version++) {
      const { appearance, refused } = this.versions[version] ?? { appearance: [], refused: true };
      if (!refused && appearance[probe] === seen) return version;
    }
    return null;
  }
}

/** What one resolver has shown so far, and what it must show: the lower bounds of what its next answer may be. */
export class Witness {
  private readonly seen = new Map<KeyHistory, number>();
  private readonly owed = new Map<KeyHistory, number>();

  /** The oldest version that the next answer may show. */
  floor(key: KeyHistory): number {
    return Math.max(this.seen.get(key) ?? 0, this.owed.get(key) ?? 0);
  }

  /** It showed this version; nothing older may follow from the same process. */
  show(key: KeyHistory, version: number): void {
    if (version > (this.seen.get(key) ?? 0)) this.seen.set(key, version);
  }

  /** An acknowledgement counted on it: no process that takes its place on the same disk may show less. */
  owe(key: KeyHistory, version: number): void {
    if (version > (this.owed.get(key) ?? 0)) this.owed.set(key, version);
  }

  /** A new process begins with what is owed, not with all that was shown. */
  restart(): void {
    this.seen.clear();
  }
}
