import { parseHashKey } from '@weir/dns-name';
import { type Policy, PolicyShare, type PolicySource } from '@weir/policy';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { MessageChannel } from 'node:worker_threads';
import { ShareReaders } from '../shared-policy/policy-readers.js';
import { ReadPolicy } from '../shared-policy/read-policy.js';

/** Readers that a share of a test is made for. */
const READERS = 4;
/** The number of the main thread among them. */
const MAIN_READER = 2;
/** Milliseconds for which a step waits for each lane. */
const PATIENCE_NAPS = 1_000;

/** A policy that lanes read too, as `PolicyTarget` has it. */
export class SharedSource implements PolicySource {
  readonly share = new PolicyShare(READERS);
  /** For lanes. */
  readonly readers = new ShareReaders(this.share);

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

  /** As the main thread reads it: with lanes, another thread changes it. */
  async readWith(lanes: number): Promise<PolicySource | ReadPolicy> {
    if (lanes === 0) return this;
    const { port1, port2 } = new MessageChannel();
    this.readers.connect(MAIN_READER, port1);
    return ReadPolicy.connect(port2, parseHashKey(HASH_KEY_HEX));
  }
}
