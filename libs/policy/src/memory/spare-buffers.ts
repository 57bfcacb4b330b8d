import { countAsHeap } from './heap-weight.js';

/** By length: buffers of policies that were replaced. The garbage collector takes them before they are used again. */
const spares = new Map<number, WeakRef<SharedArrayBuffer>[]>();

/** A buffer of any content: one that is no longer used, if there is one of that length, else a new one. */
export function takeBuffer(byteLength: number): { buffer: SharedArrayBuffer; isNew: boolean } {
  const list = spares.get(byteLength);
  for (let spare = list?.pop(); spare !== undefined; spare = list?.pop()) {
    const buffer = spare.deref();
    if (buffer !== undefined) return { buffer, isNew: false };
  }
  const buffer = new SharedArrayBuffer(byteLength);
  countAsHeap(buffer);
  return { buffer, isNew: true };
}

/** Nobody reads or writes the buffer any more, in any thread. */
export function giveBuffer(buffer: SharedArrayBuffer): void {
  const list = spares.get(buffer.byteLength);
  if (list === undefined) spares.set(buffer.byteLength, [new WeakRef(buffer)]);
  else list.push(new WeakRef(buffer));
}
