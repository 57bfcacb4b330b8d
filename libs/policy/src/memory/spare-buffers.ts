import { countAsHeap } from './heap-weight.js';

/** So much is kept at any size of the policy. */
const LEAST_BYTES = 32 * 2 ** 20;

/** By length: buffers that policies have given away. Other threads may still refer to them, but do not read them. */
const spares = new Map<number, SharedArrayBuffer[]>();
let keptBytes = 0;
let mostBytes = LEAST_BYTES;

/** Memory that waits to be used again. */
export function spareBytes(): number {
  return keptBytes;
}

/** A buffer of any content: one that is no longer used, if there is one of that length, else a new one. */
export function takeBuffer(byteLength: number): { buffer: SharedArrayBuffer; isNew: boolean } {
  const spare = spares.get(byteLength)?.pop();
  if (spare !== undefined) {
    keptBytes -= byteLength;
    return { buffer: spare, isNew: false };
  }
  const buffer = new SharedArrayBuffer(byteLength);
  countAsHeap(buffer);
  return { buffer, isNew: true };
}

/** Nobody reads or writes the buffer any more, in any thread. It goes to the garbage collector if too many are kept. */
export function giveBuffer(buffer: SharedArrayBuffer): void {
  const { byteLength } = buffer;
  if (keptBytes + byteLength > mostBytes) return;
  keptBytes += byteLength;
  const list = spares.get(byteLength);
  if (list === undefined) spares.set(byteLength, [buffer]);
  else list.push(buffer);
}

/** From now on no more than this is kept: enough for one more policy like the one in force. */
export function limitSpares(bytes: number): void {
  mostBytes = Math.max(bytes, LEAST_BYTES);
  for (const [byteLength, list] of spares) {
    while (keptBytes > mostBytes && list.pop() !== undefined) keptBytes -= byteLength;
  }
}
