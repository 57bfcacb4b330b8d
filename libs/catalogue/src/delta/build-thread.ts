import { createHash } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { DeltaReader } from './delta.js';

export interface BuildTask {
  readonly base: Uint8Array;
  readonly room: Uint8Array;
}
/** The next bytes of the delta; null: it has ended. */
export type BuildMessage = Uint8Array<ArrayBuffer> | null;
export interface BuildReply {
  readonly image: Uint8Array;
  readonly sha256: string;
}

// On Linux, this is the priority of the calling thread only.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
const { base, room } = workerData as BuildTask;
const reader = new DeltaReader(base, room);
parentPort?.on('message', (message: BuildMessage) => {
  if (message !== null) return reader.push(message);
  reader.finish();
  const reply: BuildReply = { image: room, sha256: sha256Of(room) };
  parentPort?.postMessage(reply, room.buffer instanceof ArrayBuffer ? [room.buffer] : []);
});

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
