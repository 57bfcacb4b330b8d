import { type Policy, SharedPolicyWriter } from '@weir/policy';
import { readersOf } from '../shared-policy/policy-readers.js';

/** Readers that the writer of a test is made for. */
const READERS = 5;
/** One that reads nothing. */
const SPARE_READER = READERS - 1;
/** Milliseconds for which a step waits for each lane. */
const PATIENCE_NAPS = 60_000;

/** A policy that the threads of a service read, as that of the feed. */
export class SharedSource {
  readonly writer = new SharedPolicyWriter(READERS);
  /** For lanes. */
  readonly readers = readersOf(this.writer);
  /** The word by which a change keeps readers out. */
  readonly lock = new Int32Array(this.writer.connect(SPARE_READER, () => undefined).lock);

  constructor(policy: Policy | null = null) {
    this.policy = policy;
  }

  get policy(): Policy | null {
    return this.writer.policy;
  }

  set policy(policy: Policy | null) {
    if (policy === this.writer.policy) return;
    if (!this.writer.trySwap(policy, PATIENCE_NAPS)) throw new Error('a lane did not leave');
  }

  /** Changes the policy in force, for all threads at once. */
  change(step: () => void): void {
    if (!this.writer.tryChange(step, PATIENCE_NAPS)) throw new Error('a lane did not leave');
  }
}

/** A copy that threads share, as they do the image of a catalogue. */
export function inSharedMemory(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
