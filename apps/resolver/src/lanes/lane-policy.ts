import { CatalogueImage } from '@weir/catalogue/image';
import type { HashKey } from '@weir/dns-name';
import {
  type PolicyMessage,
  type PolicyReader,
  type PolicySource,
  SharedPolicy,
} from '@weir/policy';
import { receiveMessageOnPort } from 'node:worker_threads';
import type { LaneTask } from './lane-task.js';

/** The policy of the main thread in a lane. */
export class LanePolicy implements PolicySource<PolicyReader> {
  /** Valid between `enter` and `leave`. */
  policy: PolicyReader | null = null;
  private readonly shared: SharedPolicy;

  constructor({ invitation, policyPort }: LaneTask, key: HashKey) {
    this.shared = new SharedPolicy(invitation, {
      receive: () => receiveMessageOnPort(policyPort)?.message as PolicyMessage | undefined,
      openCatalogue: (image) =>
        CatalogueImage.open(image as Uint8Array, key, { checksumVerified: true }),
    });
  }

  enter(): void {
    this.policy = this.shared.enter();
  }

  leave(): void {
    this.shared.leave();
  }
}
