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
export interface BuiltImage {
  /** The given room, or a copy of it if that was not in shared memory. */
  readonly image: Uint8Array;
  /** The digest of the image, 64 lower-case hex digits. The caller compares it with the one that it expects. */
  readonly sha256: string;
}

// On Linux, this is the priority of the calling thread only.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
const { base, room } = workerData as BuildTask;
const reader = new DeltaReader(base, room);
parentPort?.on('message', (message: BuildMessage) => {
  if (message !== null) return reader.push(message);
  reader.finish();
  const reply: BuiltImage = {
    image: room,
    sha256: createHash('sha256').update(room).digest('hex'),
  };
  parentPort?.postMessage(reply, room.buffer instanceof ArrayBuffer ? [room.buffer] : []);
});
