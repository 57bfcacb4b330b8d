import { type Policy, PolicyShare, type PolicySource } from '@weir/policy';

/** Readers that a share of a test is made for. */
const READERS = 4;
/** Milliseconds for which a step waits for each lane. */
const PATIENCE_NAPS = 1_000;

/** A policy that lanes read too, as `PolicyTarget` has it. */
export class SharedSource implements PolicySource {
  readonly share = new PolicyShare(READERS);

  constructor(policy: Policy | null = null) {
    this.policy = policy;
  }

  get policy(): Policy | null {
    return this.share.policy;
  }

  set policy(policy: Policy | null) {
    if (policy === this.share.policy) return;
    if (!this.share.trySwap(policy, PATIENCE_NAPS)) throw new Error('a lane did not leave');
  }

  /** Changes the policy in force, for all threads at once. */
  change(step: () => void): void {
    if (!this.share.tryChange(step, PATIENCE_NAPS)) throw new Error('a lane did not leave');
  }
}
