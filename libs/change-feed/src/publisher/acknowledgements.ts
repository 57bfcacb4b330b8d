import type { Position } from '../protocol/protocol.js';

/** What a `RevisionHeap` orders. */
export interface Ranked {
  readonly revision: number;
  /** Its place in the heap that it is in. Only the heap writes it. */
  place: number;
}

/** A binary heap by revision, the lowest first. Items may be removed from anywhere. */
export class RevisionHeap<T extends Ranked> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  /** One with the lowest revision. */
  get first(): T | undefined {
    return this.items[0];
  }

  add(item: T): void {
    this.items.push(item);
    this.moveUp(item, this.items.length - 1);
  }

  /** @param item must be in this heap. */
  remove(item: T): void {
    const last = this.items.pop() as T;
    if (last !== item) this.replace(item, last);
  }

  /** Puts `replacement` in the heap instead of `item`, which must be in it. */
  replace(item: T, replacement: T): void {
    if (replacement.revision < item.revision) this.moveUp(replacement, item.place);
    else this.moveDown(replacement, item.place);
  }

  /** How many have a lower revision. The work grows with this number only. */
  countBelow(revision: number): number {
    return this.countBelowFrom(0, revision);
  }

  private countBelowFrom(place: number, revision: number): number {
    const item = this.items[place];
    if (item === undefined || item.revision >= revision) return 0;
    const left = 2 * place + 1;
    return 1 + this.countBelowFrom(left, revision) + this.countBelowFrom(left + 1, revision);
  }

  private moveUp(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = this.items[(place - 1) >> 1];
      if (parent.revision <= item.revision) break;
      this.put(parent, place);
      place = (place - 1) >> 1;
    }
    this.put(item, place);
  }

  private moveDown(item: T, from: number): void {
    let place = from;
    for (;;) {
      const child = this.lowerChild(place);
      if (child === undefined || child.revision >= item.revision) break;
      const next = child.place;
      this.put(child, place);
      place = next;
    }
    this.put(item, place);
  }

  private lowerChild(place: number): T | undefined {
    const left = this.items[2 * place + 1];
    const right = this.items[2 * place + 2];
    return left !== undefined && right !== undefined && right.revision < left.revision
      ? right
      : left;
  }

  private put(item: T, place: number): void {
    this.items[place] = item;
    item.place = place;
  }
}

/** A live resolver, as far as writes wait for it. */
export interface ResolverPosition extends Ranked {
  /** The log that it follows. */
  readonly lineage: string;
}

/** `applied` of `total` live resolvers have a change in force. */
export interface Applied {
  readonly applied: number;
  readonly total: number;
}

/** What the live resolvers have in force, by log. There is one log, except after a restore. */
export class ResolverPositions {
  private readonly logs = new Map<string, RevisionHeap<ResolverPosition>>();
  private total = 0;

  add(resolver: ResolverPosition): void {
    const log = this.logs.get(resolver.lineage) ?? new RevisionHeap<ResolverPosition>();
    this.logs.set(resolver.lineage, log);
    log.add(resolver);
    this.total++;
  }

  /** @param resolver must have been added. */
  remove(resolver: ResolverPosition): void {
    const log = this.logOf(resolver);
    log.remove(resolver);
    if (log.size === 0) this.logs.delete(resolver.lineage);
    this.total--;
  }

  /** @param before must have been added. */
  replace(before: ResolverPosition, after: ResolverPosition): void {
    if (before.lineage === after.lineage) {
      this.logOf(before).replace(before, after);
      return;
    }
    this.remove(before);
    this.add(after);
  }

  /** How many resolvers have the revision in force. One that follows another log has not. */
  applied({ lineage, revision }: Position): Applied {
    const log = this.logs.get(lineage);
    const applied = log === undefined ? 0 : log.size - log.countBelow(revision);
    return { applied, total: this.total };
  }

  /** The newest revision of a log that every resolver has in force; -1 if one follows another log. */
  common(lineage: string): number {
    const log = this.logs.get(lineage);
    if ((log?.size ?? 0) < this.total) return -1;
    return log?.first?.revision ?? Infinity;
  }

  private logOf({ lineage }: ResolverPosition): RevisionHeap<ResolverPosition> {
    const log = this.logs.get(lineage);
    if (log === undefined) throw new Error('this resolver was not added');
    return log;
  }
}

interface Waiter extends Ranked {
  readonly end: () => void;
}

/** The writes that wait until followers have acknowledged their revision: by log, the lowest revision first. */
export class AcknowledgementWaits {
  private readonly logs = new Map<string, RevisionHeap<Waiter>>();

  /** @param finished the newest revision of a log that no write has to wait for (any longer). */
  constructor(private readonly finished: (lineage: string) => number) {}

  /** Resolves as soon as the position is finished, or after `timeoutMs`. */
  async wait({ lineage, revision }: Position, timeoutMs: number): Promise<void> {
    if (timeoutMs <= 0 || revision <= this.finished(lineage)) return;
    const log = this.logs.get(lineage) ?? new RevisionHeap<Waiter>();
    this.logs.set(lineage, log);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.remove(lineage, log, waiter);
        resolve();
      }, timeoutMs);
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiter: Waiter = { revision, place: 0, end };
      log.add(waiter);
    });
  }

  /** Call it when more may be finished. */
  endFinished(): void {
    for (const [lineage, log] of this.logs) {
      const finished = this.finished(lineage);
      for (
        let { first } = log;
        first !== undefined && first.revision <= finished;
        { first } = log
      ) {
        this.remove(lineage, log, first);
        first.end();
      }
    }
  }

  private remove(lineage: string, log: RevisionHeap<Waiter>, waiter: Waiter): void {
    log.remove(waiter);
    if (log.size === 0) this.logs.delete(lineage);
  }
}
