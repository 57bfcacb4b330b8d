import { CatalogueImage } from '@weir/catalogue/image';
import type { HashKey } from '@weir/dns-name';
import {
  type Invitation,
  type PolicyMessage,
  type PolicyReader,
  type PolicySource,
  SharedPolicy,
} from '@weir/policy';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time between looks for the invitation. */
const LOOK_MS = 1;

/** The policy that another thread changes. */
export class ReadPolicy implements PolicySource<PolicyReader> {
  /** Valid between `enter` and `leave`. */
  policy: PolicyReader | null = null;
  private readonly shared: SharedPolicy;
  /** Turns that began within another one. */
  private depth = 0;

  /**
   * Waits for the invitation.
   * @param port where `PolicyReaders` has connected a reader
   * @param onWriterStuck as of `SharedPolicy`
   */
  static async connect(
    port: MessagePort,
    key: HashKey,
    onWriterStuck?: () => void,
  ): Promise<ReadPolicy> {
    for (;;) {
      const first = receiveMessageOnPort(port);
      if (first !== undefined)
        return new ReadPolicy(first.message as Invitation, port, key, onWriterStuck);
      await sleep(LOOK_MS);
    }
  }

  constructor(invitation: Invitation, port: MessagePort, key: HashKey, onWriterStuck?: () => void) {
    this.shared = new SharedPolicy(invitation, {
      receive: () => receiveMessageOnPort(port)?.message as PolicyMessage | undefined,
      openCatalogue: (image) =>
        CatalogueImage.open(image as Uint8Array, key, { checksumVerified: true }),
      ...(onWriterStuck && { onWriterStuck }),
    });
  }

  /** Begins a turn, unless this thread has begun one: the policy stays as it is until `leave`. */
  enter(): void {
    if (this.depth === 0) this.policy = this.shared.enter();
    this.depth++;
  }

  leave(): void {
    this.depth--;
    if (this.depth > 0) return;
    this.policy = null;
    this.shared.leave();
  }
}
