import type { CatalogueIndex } from '../catalogue-index.js';
import { PolicyReader } from '../policy-reader.js';
import { countAsGarbage } from '../memory/heap-weight.js';
import { NO_FORK } from '../memory/space.js';
import {
  adoptChanges,
  bytesOf,
  createSpaces,
  forkSpaces,
  type PolicySpaces,
} from '../policy-spaces.js';
import { IN_FORCE, type Invitation, type PolicyMessage, SENT } from './shared-policy-writer.js';
import { ReadSide } from './reader-lock.js';

interface SharedPolicyOptions {
  /** The next message to this reader; undefined: there is none. `receiveMessageOnPort` does this. */
  readonly receive: () => PolicyMessage | undefined;
  /** Opens a catalogue from its `shareable`. */
  readonly openCatalogue: (shareable: unknown) => CatalogueIndex;
  /** See `ReadSide`. */
  readonly onWriterStuck?: () => void;
}

/** A policy in the memory of another thread. */
interface Mirror {
  readonly spaces: PolicySpaces;
  readonly reader: PolicyReader;
}

/**
 * The policy that another thread shares, in the thread of one reader: `enter`, the queries of a batch, `leave`
 * (README.md). Between the two nothing changes, and the writer waits: no system call belongs there. A reader that has
 * no queries must enter now and then or call `takeChanges`, to drop the memory of policies that are no longer in force.
 */
export class SharedPolicy {
  private readonly readSide: ReadSide;
  private readonly control: Int32Array;
  private received: number;
  /** By number: the policy in force and newer ones. */
  private readonly mirrors = new Map<number, Mirror>();
  private number = 0;
  private inForce: PolicyReader | null = null;
  /** Of policies that are no longer in force, and will not be used again. */
  private garbageBytes = 0;

  constructor(
    { lock, reader, control, sent, policies }: Invitation,
    private readonly options: SharedPolicyOptions,
  ) {
    this.readSide = new ReadSide(lock, reader, options.onWriterStuck);
    this.control = new Int32Array(control);
    this.received = sent;
    for (const message of policies) this.adopt(message);
  }

  /** Begins a batch. Allocates only for new memory. @returns the policy in force, to be used until `leave`, or null. */
  enter(): PolicyReader | null {
    // Before, so that the writer does not wait for it.
    this.receiveAll();
    if (this.garbageBytes > 0) this.dropGarbage();
    this.readSide.enter();
    // What was sent since. From here on there is nothing more.
    if (this.received !== Atomics.load(this.control, SENT)) this.receiveInside();
    const number = Atomics.load(this.control, IN_FORCE);
    if (number !== this.number) this.select(number);
    return this.inForce;
  }

  leave(): void {
    this.readSide.leave();
  }

  /** Takes what has changed without a batch. It never waits for the writer. */
  takeChanges(): void {
    // What belongs to this policy was sent before it came into force.
    const number = Atomics.load(this.control, IN_FORCE);
    this.receiveAll();
    if (this.garbageBytes > 0) this.dropGarbage();
    if (number !== this.number) this.select(number);
  }

  private receiveInside(): void {
    try {
      this.receiveAll();
    } catch (error) {
      this.readSide.leave();
      throw error;
    }
  }

  private receiveAll(): void {
    while (this.received !== Atomics.load(this.control, SENT)) {
      const message = this.options.receive();
      if (message === undefined) throw new Error('a message of the shared policy is missing');
      this.adopt(message);
      this.received = (this.received + 1) | 0;
    }
  }

  private adopt({ policy, origin, timeZone, changes, catalogue }: PolicyMessage): void {
    const known = this.mirrors.get(policy);
    const before = origin === undefined ? undefined : this.mirrors.get(origin);
    const spaces = known?.spaces ?? (before ? forkSpaces(before.spaces, NO_FORK) : createSpaces());
    adoptChanges(spaces, changes);
    const reader = known?.reader ?? new PolicyReader(spaces, { timeZone });
    if (before) reader.setCatalogue(before.reader.catalogue);
    this.mirrors.set(policy, { spaces, reader });
    if (catalogue === undefined) return;
    reader.setCatalogue(catalogue === null ? null : this.options.openCatalogue(catalogue));
  }

  private dropGarbage(): void {
    countAsGarbage(this.garbageBytes);
    this.garbageBytes = 0;
  }

  private select(number: number): void {
    const selected = this.mirrors.get(number);
    this.number = number;
    this.inForce = selected?.reader ?? null;
    const kept = selected ? bytesOf(selected.spaces) : 0;
    for (const [known, { spaces }] of this.mirrors) {
      if (known >= number) continue;
      // The other thread keeps as much as is in force, to use it again. The rest can go.
      this.garbageBytes += Math.max(0, bytesOf(spaces) - kept);
      this.mirrors.delete(known);
    }
  }
}
