/** A key that came often. */
export interface Hit<Label> {
  readonly key: number;
  readonly label: Label;
  /** How often it came, by kind, at least. */
  readonly counts: readonly number[];
}

interface Counter<Label> extends Hit<Label> {
  readonly counts: number[];
  /** How often the key may have come before it was counted. */
  missed: number;
}

/**
 * The keys that come most often, in bounded memory ("Space-Saving", Metwally et al., ICDT 2005): a new key takes the
 * place of the rarest one. Any key that makes up more than 1/capacity of all is among them.
 */
export class HeavyHitters<Label> {
  private readonly counters = new Map<number, Counter<Label>>();

  constructor(
    private readonly capacity: number,
    private readonly kinds: number,
  ) {}

  /** @param label called when the key is new */
  record(key: number, kind: number, label: () => Label): void {
    let counter = this.counters.get(key);
    if (counter === undefined) {
      const missed = this.counters.size < this.capacity ? 0 : this.dropRarest();
      counter = { key, label: label(), counts: Array<number>(this.kinds).fill(0), missed };
      this.counters.set(key, counter);
    }
    counter.counts[kind]++;
  }

  /** Halves all counts. */
  halve(): void {
    for (const [key, counter] of this.counters) {
      counter.missed >>>= 1;
      for (let kind = 0; kind < this.kinds; kind++) counter.counts[kind] >>>= 1;
      if (totalOf(counter) === 0) this.counters.delete(key);
    }
  }

  get hits(): readonly Hit<Label>[] {
    return [...this.counters.values()];
  }

  /** @returns its count at most */
  private dropRarest(): number {
    let least = Infinity;
    let rarest = 0;
    for (const [key, counter] of this.counters) {
      const count = totalOf(counter) + counter.missed;
      if (count >= least) continue;
      least = count;
      rarest = key;
    }
    this.counters.delete(rarest);
    return least;
  }
}

/** How often the key came, at least. */
export function totalOf({ counts }: Pick<Hit<unknown>, 'counts'>): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
