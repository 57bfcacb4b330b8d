import type { PolicyShare } from '@weir/policy';
import type { MessagePort } from 'node:worker_threads';

/** Lets other threads read the policy in force. Each has a number of its own, from 0. */
export interface PolicyReaders {
  /** The reader makes a `ReadPolicy` from the other end of the port. */
  connect(reader: number, port: MessagePort): void;
}

/** In the thread that changes the policy. */
export class ShareReaders implements PolicyReaders {
  constructor(private readonly share: PolicyShare) {}

  connect(reader: number, port: MessagePort): void {
    const invitation = this.share.connect(reader, (message) => {
      port.postMessage(message);
    });
    port.postMessage(invitation);
  }
}
