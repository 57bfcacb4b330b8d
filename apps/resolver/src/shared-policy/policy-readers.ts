import type { PolicyShare } from '@weir/policy';
import type { MessagePort } from 'node:worker_threads';

/** Lets other threads read the policy in force. Each has a number of its own, from 0. */
export interface PolicyReaders {
  /** The reader makes a `ReadPolicy` from the other end of the port. */
  connect(reader: number, port: MessagePort): void;
  /** Its thread has ended. */
  disconnect(reader: number): void;
}

/** In the thread that changes the policy. */
export class ShareReaders implements PolicyReaders {
  private readonly ports = new Map<number, MessagePort>();

  constructor(private readonly share: PolicyShare) {}

  connect(reader: number, port: MessagePort): void {
    const invitation = this.share.connect(reader, (message) => {
      port.postMessage(message);
    });
    this.ports.set(reader, port);
    port.postMessage(invitation);
  }

  disconnect(reader: number): void {
    this.ports.get(reader)?.close();
    this.ports.delete(reader);
    this.share.disconnect(reader);
  }
}
