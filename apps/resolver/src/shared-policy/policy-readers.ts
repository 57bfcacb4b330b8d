import type { SharedPolicyWriter } from '@weir/policy';
import type { MessagePort } from 'node:worker_threads';

/** Lets other threads read the policy in force. Each has a number of its own, from 0. */
export interface PolicyReaders {
  /** The reader makes a `ReadPolicy` from the other end of the port. */
  connect(reader: number, port: MessagePort): void;
}

/** In the thread that changes the policy. */
export function readersOf(writer: SharedPolicyWriter): PolicyReaders {
  return {
    connect: (reader, port) =>
      port.postMessage(writer.connect(reader, (message) => port.postMessage(message))),
  };
}
