import { parseHashKey } from '@weir/dns-name';
import { type Invitation, type Policy, PolicyShare } from '@weir/policy';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { ReadPolicy, shareReaders } from '../shared-policy/read-policy.js';

/** Readers that a share of a test is made for. */
const READERS = 4;
/** The number of the main thread among them. */
const MAIN_READER = 2;
/** One that reads nothing. */
const SPARE_READER = 3;
/** Milliseconds for which a step waits for each lane. */
const PATIENCE_NAPS = 60_000;

/** A policy that the threads of a service read, as that of the feed. */
export class SharedSource {
  readonly share = new PolicyShare(READERS);
  /** For lanes. */
  readonly readers = shareReaders(this.share);
  /** For the main thread. */
  readonly main: ReadPolicy;
  /** The word by which a change keeps readers out. */
  readonly lock = new Int32Array(this.share.connect(SPARE_READER, () => undefined).lock);

  constructor(policy: Policy | null = null) {
    const { port1, port2 } = new MessageChannel();
    this.readers.connect(MAIN_READER, port1);
    const { message } = receiveMessageOnPort(port2) as { message: Invitation };
    this.main = new ReadPolicy(message, port2, parseHashKey(HASH_KEY_HEX));
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
