import type { Head } from '@weir/config-model';
import type { FollowerState } from '../protocol/protocol.js';
import type { FeedLogger } from '../runtime/runtime.js';
import { type Judgement, KnownPoints } from './known-points.js';

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
