import { type Policy, PolicyShare } from '@weir/policy';
import { shareReaders } from '../shared-policy/policy-readers.js';

/** Readers that a share of a test is made for. */
const READERS = 5;
/** One that reads nothing. */
const SPARE_READER = READERS - 1;
/** Milliseconds for which a step waits for each lane. */
const PATIENCE_NAPS = 60_000;

/** A policy that the threads of a service read, as that of the feed. */
export class SharedSource {
  readonly share = new PolicyShare(READERS);
  /** For lanes. */
  readonly readers = shareReaders(this.share);
  /** The word by which a change keeps readers out. */
  readonly lock = new Int32Array(this.share.connect(SPARE_READER, () => undefined).lock);

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

/** A copy that threads share, as they do the image of a catalogue. */
export function inSharedMemory(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
