import type { Position } from '../protocol/protocol.js';
import { type Ranked, RevisionHeap } from './revision-heap.js';

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
