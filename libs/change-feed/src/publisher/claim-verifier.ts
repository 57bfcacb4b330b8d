import type { Head, LogPoint } from '@weir/config-model';
import type { FollowerState } from '../protocol/protocol.js';
import { dropOldest, type FeedLogger } from '../runtime/runtime.js';

/** The same configuration may come back at another revision, so a digest alone is no key. */
function keyOf({ revision, digest }: LogPoint): string {
  return `${revision} ${digest}`;
}

/** Revisions whose digests are remembered: more than followers are behind while changes are quick. */
const REMEMBERED = 10_000;
/** After the log was set back, followers may acknowledge lost revisions until they have loaded a snapshot. */
const STRICT_MS = 60_000;

/** `right`: it may be true. `wrong`: it is not of this log. `unknown`: the head of the log has to be read first. */
export type Judgement = 'right' | 'wrong' | 'unknown';

interface BegunRead {
  readonly newest: number;
  readonly doubts: number;
  readonly claims: number;
}

/**
 * What one replica of the control plane knows of the log, to tell acknowledgements from claims about commits that a
 * failover of PostgreSQL or a restored volume has lost. Times are parameters.
 *
 * An example: the log was at 5, and a failover has set it back to 3. A follower says 5. That is a claim, because this
 * replica knows no 5. A read of the head that begins now finds 3. So 5 is lost, and the follower does not count.
 *
 * Two cases are found only when the follower hears of the next head, within a second:
 *
 * - After a failover, this replica commits first. Only then a follower names a newer, lost revision for the first time.
 * - Other replicas have committed since, so the lost revision of a new follower is not ahead any more. This replica has
 *   not seen the change that has this revision now.
 */
export class KnownPoints {
  private lineage: string | null = null;
  private readonly digests = new Map<number, string>();
  private newest = -1;
  /**
   * What followers have said about revisions newer than all that is known here, by key. Each has a number. The
   * log has such a revision, or had it and has lost it: a read of the head that begins later tells.
   */
  private readonly claims = new Map<
    string,
    LogPoint & { readonly number: number; readonly isFirst: boolean }
  >();
  private claimsMade = 0;
  private readonly lost = new Set<string>();
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
    this.follow(lineage);
    const known = this.digests.get(revision);
    const isOther = known !== undefined && known !== digest;
    if (isOther) this.cut(revision, nowMs);
    // Or another replica has committed a later change, which has arrived here first.
    const isBehind =
      revision <= this.newest || this.claims.values().some((claim) => claim.revision >= revision);
    if (isBehind && known === undefined) this.doubts++;
    this.remember({ revision, digest });
    return isOther || this.isInDoubt;
  }

  /** Call it before the head is read, and hand the result to `read`. */
  beginRead(): BegunRead {
    return { newest: this.newest, doubts: this.doubts, claims: this.claimsMade };
  }

  /** Takes the head of the log. @returns whether the log was set back. */
  read({ lineage, revision, digest }: Head, begun: BegunRead, nowMs: number): boolean {
    this.follow(lineage);
    const known = this.digests.get(revision);
    const isOther = known !== undefined && known !== digest;
    const lost = this.judgeClaims(revision, begun.claims);
    const isSetBack = revision < begun.newest || isOther || lost.length > 0;
    if (isSetBack) this.cut(revision, nowMs);
    for (const claim of lost) this.lose(claim);
    this.remember({ revision, digest });
    this.doubtsAnswered = Math.max(this.doubtsAnswered, begun.doubts);
    return isSetBack;
  }

  /** @param isFirst the follower is new: it may come from a disk with commits that were lost long ago */
  judge({ lineage, revision, digest }: Head, nowMs: number, isFirst = false): Judgement {
    if (lineage !== this.lineage) return 'right';
    const isAhead = revision > this.newest;
    const key = keyOf({ revision, digest });
    if (this.lost.has(key)) return 'wrong';
    if (isAhead) this.claim(key, { revision, digest }, isFirst);
    const isStrict = nowMs < this.strictUntilMs || this.claims.get(key)?.isFirst === true;
    if (this.isInDoubt || (isAhead && isStrict)) return 'unknown';
    const known = this.digests.get(revision);
    return known === undefined || digest === known ? 'right' : 'wrong';
  }

  private claim(key: string, claim: LogPoint, isFirst: boolean): void {
    if (this.claims.has(key)) return;
    this.claims.set(key, { ...claim, number: ++this.claimsMade, isFirst });
  }

  /** The claims that a read after the first `count` has refuted. Forgets these, and those that the log has passed. */
  private judgeClaims(head: number, count: number): LogPoint[] {
    const lost: LogPoint[] = [];
    for (const [key, claim] of this.claims) {
      const isPassed = claim.revision <= head;
      if (!isPassed && claim.number <= count) lost.push(claim);
      if (isPassed || claim.number <= count) this.claims.delete(key);
    }
    return lost;
  }

  private follow(lineage: string): void {
    if (lineage === this.lineage) return;
    this.lineage = lineage;
    this.digests.clear();
    this.newest = -1;
    this.claims.clear();
    this.lost.clear();
  }

  /** The log was set back: what it had from this revision on is lost. */
  private cut(from: number, nowMs: number): void {
    for (const [revision, digest] of this.digests) {
      if (revision < from) continue;
      this.digests.delete(revision);
      this.lose({ revision, digest });
    }
    this.newest = Math.min(this.newest, from - 1);
    this.strictUntilMs = nowMs + STRICT_MS;
  }

  private lose(claim: LogPoint): void {
    this.lost.add(keyOf(claim));
    dropOldest(this.lost, REMEMBERED);
  }

  private remember({ revision, digest }: LogPoint): void {
    this.digests.set(revision, digest);
    dropOldest(this.digests, REMEMBERED);
    // A change that was lost may have been made again.
    this.lost.delete(keyOf({ revision, digest }));
    this.newest = Math.max(this.newest, revision);
  }
}

export interface ClaimVerifierOptions {
  /** Reads the head of the change log from the database. */
  readonly readHead: () => Promise<Head>;
  /** What was judged before may be wrong. */
  readonly onJudgeAgain: () => void;
  readonly log: FeedLogger;
}

/** Tells whether what followers claim to have in force is of this log, and reads its head when only that can tell. */
export class ClaimVerifier {
  private readonly points = new KnownPoints(performance.now());
  private isReading = false;
  private mustRead = false;

  constructor(private readonly options: ClaimVerifierOptions) {}

  /** Whether nothing that a follower says can be believed before the head was read. */
  get isInDoubt(): boolean {
    return this.points.isInDoubt;
  }

  /** Call it with each change that this replica has committed, before anybody can acknowledge it. */
  committed(change: Head): void {
    if (!this.points.committed(change, performance.now())) return;
    this.options.onJudgeAgain();
    if (this.isInDoubt) void this.resolveDoubts();
  }

  judge({ inForce }: FollowerState, isFirst = false): Judgement {
    return inForce === null ? 'right' : this.points.judge(inForce, performance.now(), isFirst);
  }

  async readHead(): Promise<Head> {
    const begun = this.points.beginRead();
    const head = await this.options.readHead();
    const isSetBack = this.points.read(head, begun, performance.now());
    this.options.onJudgeAgain();
    // The followers may claim what the log has lost, and only a later read refutes that.
    if (isSetBack) void this.resolveDoubts();
    return head;
  }

  /** Reads the head: one read at a time, and one more if it was asked for meanwhile. */
  async resolveDoubts(): Promise<void> {
    this.mustRead = true;
    if (this.isReading) return;
    this.isReading = true;
    try {
      while (this.mustRead) {
        this.mustRead = false;
        // PostgreSQL may be back while an earlier connection is still broken: the second read has another one.
        await this.readHead().catch(() => this.readHead());
      }
    } catch (error) {
      // What is in doubt does not count until then. The next heartbeat reads the head too.
      this.options.log.warn({ reason: String(error) }, 'cannot read the head revision');
    } finally {
      this.isReading = false;
    }
  }
}
