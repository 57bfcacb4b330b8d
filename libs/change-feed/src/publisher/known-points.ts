import type { Head } from '@weir/config-model';
import type { FollowerState } from '../protocol/protocol.js';

/** Revisions whose digests are remembered: more than followers are behind while changes are quick. */
const REMEMBERED = 10_000;
/** How much later than its commit a change may be published, while other replicas commit. */
const LATE_PUBLICATION_MS = 1_000;
/** After the log was set back, followers may acknowledge lost revisions until they have loaded a snapshot. */
const STRICT_MS = 60_000;

/**
 * `right`: it may be true, as far as can be known. `wrong`: it is not of this log. `unknown`: the head of the log has
 * to be read first.
 */
export type Judgement = 'right' | 'wrong' | 'unknown';

/**
 * What one replica of the control plane knows of the log, to tell acknowledgements from claims about commits that a
 * failover of PostgreSQL or a restored volume has lost. Times are parameters.
 */
export class KnownPoints {
  private lineage: string | null = null;
  private digests = new Map<number, string>();
  private newest = -1;
  private newestSinceMs = 0;
  private strictUntilMs: number;
  /** Counts what must be answered by a read of the head that begins later. */
  private doubts = 0;
  private doubtsAnswered = 0;

  /** @param nowMs the start of the process: it knows nothing of what was before. */
  constructor(nowMs: number) {
    this.strictUntilMs = nowMs + STRICT_MS;
  }

  /** Whether a follower may hold lost commits, and only the head of the log can tell. */
  get isInDoubt(): boolean {
    return this.doubts > this.doubtsAnswered;
  }

  /** Takes a change that this replica has committed. @returns whether what was judged before may be wrong. */
  committed({ lineage, revision, digest }: Head, nowMs: number): boolean {
    this.follow(lineage, nowMs);
    const known = this.digests.get(revision);
    const isOther = known !== undefined && known !== digest;
    if (isOther) this.cut(revision, nowMs);
    const isBehind = revision <= this.newest && known === undefined;
    // Changes of other replicas may have been seen first, but only a little before.
    if (isBehind && nowMs - this.newestSinceMs > LATE_PUBLICATION_MS) this.doubts++;
    this.remember(revision, digest, nowMs);
    return isOther || this.isInDoubt;
  }

  /** Call it before the head is read, and hand the result to `read`. */
  beginRead(): { readonly newest: number; readonly doubts: number } {
    const { newest, doubts } = this;
    return { newest, doubts };
  }

  /** Takes the head of the log. */
  read(
    { lineage, revision, digest }: Head,
    begun: { readonly newest: number; readonly doubts: number },
    nowMs: number,
  ): void {
    this.follow(lineage, nowMs);
    const known = this.digests.get(revision);
    const isOther = known !== undefined && known !== digest;
    if (revision < begun.newest || isOther) this.cut(revision, nowMs);
    this.remember(revision, digest, nowMs);
    this.doubtsAnswered = Math.max(this.doubtsAnswered, begun.doubts);
  }

  judge(state: Pick<FollowerState, 'lineage' | 'revision' | 'digest'>, nowMs: number): Judgement {
    const { lineage, revision, digest } = state;
    if (revision === null || (lineage !== null && lineage !== this.lineage)) return 'right';
    if (this.isInDoubt) return 'unknown';
    if (revision > this.newest && nowMs < this.strictUntilMs) return 'unknown';
    const known = this.digests.get(revision);
    return known === undefined || digest === null || digest === known ? 'right' : 'wrong';
  }

  private follow(lineage: string | null, nowMs: number): void {
    if (lineage === this.lineage) return;
    this.lineage = lineage;
    this.forget(0);
    this.newestSinceMs = nowMs;
  }

  /** The log was set back: what it had from this revision on is lost. */
  private cut(revision: number, nowMs: number): void {
    this.forget(revision);
    this.strictUntilMs = nowMs + STRICT_MS;
  }

  private forget(from: number): void {
    for (const revision of this.digests.keys()) {
      if (revision >= from) this.digests.delete(revision);
    }
    this.newest = Math.min(this.newest, from - 1);
  }

  private remember(revision: number, digest: string, nowMs: number): void {
    this.digests.set(revision, digest);
    if (this.digests.size > REMEMBERED) {
      for (const oldest of this.digests.keys()) {
        this.digests.delete(oldest);
        break;
      }
    }
    if (revision <= this.newest) return;
    this.newest = revision;
    this.newestSinceMs = nowMs;
  }
}
