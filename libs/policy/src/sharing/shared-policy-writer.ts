import {
  changesSince,
  knownChunks,
  type KnownChunks,
  type SpaceChanges,
} from '../policy-spaces.js';
import type { Policy } from '../policy.js';
import { createReaderLock, WriteSide } from './reader-lock.js';

/*
 * What the sharing thread sends to its readers, in order. All of it can be cloned to another thread.
 *
 * A word counts the messages that were sent (`SENT`), another one is the number of the policy in force (`IN_FORCE`;
 * 0: none). The words change only while nobody reads, except for `SENT` when a policy is announced. A reader has all
 * it needs when it has received as many messages as `SENT` says.
 */

export const SENT = 0;
export const IN_FORCE = 1;
const CONTROL_BYTES = 8;

/** Memory of a policy: all of it when the number is new, else what was added or dropped. */
export interface PolicyMessage {
  /** Counts the policies from 1. */
  readonly policy: number;
  /** Of a new policy: another one, with which it has all else in common. */
  readonly origin?: number;
  readonly timeZone: string;
  readonly changes: SpaceChanges;
  /** What the catalogue is opened from; null: there is no catalogue; undefined: it stays as it was. */
  readonly catalogue?: unknown;
}

/** What a reader starts with, to be sent to its thread. */
export interface Invitation {
  readonly lock: SharedArrayBuffer;
  readonly reader: number;
  readonly control: SharedArrayBuffer;
  /** Messages that were sent to others before. */
  readonly sent: number;
  readonly policies: readonly PolicyMessage[];
}

/** A policy that is shared, and what its readers know of its memory. */
class SharedMemory {
  private known: KnownChunks = {};
  private knownCatalogue: unknown = undefined;

  constructor(
    readonly number: number,
    readonly policy: Policy,
  ) {}

  /** All of it. From now on readers know it. */
  whole(): PolicyMessage {
    this.known = {};
    this.knownCatalogue = undefined;
    return this.changes();
  }

  /** All of it, for readers that know another policy. */
  wholeAfter(other: SharedMemory | null): PolicyMessage {
    if (other === null || !this.policy.isForkOf(other.policy)) return this.whole();
    this.known = other.known;
    this.knownCatalogue = other.knownCatalogue;
    return { ...this.changes(), origin: other.number };
  }

  /** What has changed since; null: nothing that readers need to know. */
  takeChanges(): PolicyMessage | null {
    const message = this.changes();
    return 'catalogue' in message || Object.keys(message.changes).length > 0 ? message : null;
  }

  private changes(): PolicyMessage {
    const { policy } = this;
    const catalogue = policy.catalogue === null ? null : policy.catalogue.shareable;
    if (catalogue === undefined)
      throw new Error('the catalogue of a shared policy is not shareable');
    const message = {
      policy: this.number,
      timeZone: policy.timeZone,
      changes: changesSince(policy.spaces, this.known),
      ...(catalogue !== this.knownCatalogue && { catalogue }),
    };
    this.known = knownChunks(policy.spaces);
    this.knownCatalogue = catalogue;
    return message;
  }
}

/** Hands a message to the thread of a reader. It can receive it when this function has returned. */
type Send = (message: PolicyMessage) => void;

/**
 * Shares the policy in force with readers in other threads: every reader sees a revision whole or not at all, and all
 * see the next one from the same instant on. When a method has returned true, no reader sees what was before.
 *
 * There is one writer in a process, in the thread that applies changes.
 */
export class SharedPolicyWriter {
  private readonly lock: SharedArrayBuffer;
  private readonly writeSide: WriteSide;
  private readonly controlBuffer = new SharedArrayBuffer(CONTROL_BYTES);
  private readonly control = new Int32Array(this.controlBuffer);
  private readonly sends = new Map<number, Send>();
  /** The policy in force, and one that was announced to take its place. */
  private inForce: SharedMemory | null = null;
  private announced: SharedMemory | null = null;
  private policyCount = 0;

  /** @param readers most readers at the same time. */
  constructor(private readonly readers: number) {
    this.lock = createReaderLock(readers);
    this.writeSide = new WriteSide(this.lock);
  }

  get policy(): Policy | null {
    return this.inForce?.policy ?? null;
  }

  /** Adds a reader, whose number from 0 no other has. @returns what its thread makes a `SharedPolicy` of. */
  connect(reader: number, send: Send): Invitation {
    if (reader >= this.readers || this.sends.has(reader)) {
      throw new RangeError(`there is no free reader ${reader}`);
    }
    this.sends.set(reader, send);
    const policies = [this.inForce, this.announced].filter((one) => one !== null);
    return {
      lock: this.lock,
      reader,
      control: this.controlBuffer,
      sent: this.control[SENT],
      policies: policies.map((one) => one.whole()),
    };
  }

  /**
   * Runs a step that changes the policy in force, while nobody reads. When it throws, readers see what it has done.
   * @param naps most milliseconds to wait for each reader.
   * @returns false: a reader did not leave, and nothing was done (see `WriteSide.tryEnter`).
   */
  tryChange(step: () => void, naps: number): boolean {
    return this.writeSide.tryWrite(() => {
      try {
        step();
      } finally {
        this.sendChanges();
      }
    }, naps);
  }

  /**
   * Puts a policy in force in place of the one before. Readers get its memory before, while they go on reading.
   * @param policy which nobody changes until it is in force; null: none.
   * @returns as `tryChange`. Then call it again with the same policy, or another one.
   */
  trySwap(policy: Policy | null, naps: number): boolean {
    if (policy !== (this.announced?.policy ?? null)) this.announce(policy);
    return this.writeSide.tryWrite(() => {
      this.inForce = this.announced;
      this.announced = null;
      Atomics.store(this.control, IN_FORCE, this.inForce?.number ?? 0);
    }, naps);
  }

  private announce(policy: Policy | null): void {
    this.announced = policy === null ? null : new SharedMemory(++this.policyCount, policy);
    if (this.announced !== null && this.sends.size > 0) {
      this.send(this.announced.wholeAfter(this.inForce));
    }
  }

  /** A reader that connects later gets all there is. */
  private sendChanges(): void {
    if (this.sends.size === 0 || this.inForce === null) return;
    const message = this.inForce.takeChanges();
    if (message !== null) this.send(message);
  }

  private send(message: PolicyMessage): void {
    for (const send of this.sends.values()) send(message);
    Atomics.add(this.control, SENT, 1);
  }
}
