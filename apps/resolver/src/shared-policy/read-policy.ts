import { SubscriberKey } from '@weir/clients';
import { CatalogueImage } from '@weir/catalogue/image';
import type { HashKey } from '@weir/dns-name';
import {
  type Client,
  type Invitation,
  type PolicyMessage,
  type PolicyReader,
  type PolicySource,
  SharedPolicy,
} from '@weir/policy';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** Time between looks for the invitation. */
const LOOK_MS = 1;

/** The policy that another thread changes. */
export class ReadPolicy implements PolicySource {
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

  /** Outside of a turn. As of `SharedPolicy`. */
  takeChanges(): void {
    this.shared.takeChanges();
  }

  leave(): void {
    this.depth--;
    if (this.depth > 0) return;
    this.policy = null;
    this.shared.leave();
  }
}

/** Identifies subscribers outside of the query path too. */
export class SubscriberKeyInTurns extends SubscriberKey {
  constructor(
    private readonly policy: ReadPolicy,
    salt: number,
  ) {
    super(policy, salt);
  }

  override identify(client: Client): void {
    const { policy } = this;
    policy.enter();
    try {
      super.identify(client);
    } finally {
      policy.leave();
    }
  }
}
