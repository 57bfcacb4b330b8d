import { HEADER_BYTES } from '../image/image-format.js';

/** What makes one image of another one, version 1. The README of this library describes it byte by byte. */

/** `WEIRDEL\n` */
export const DELTA_MAGIC = Uint8Array.of(0x57, 0x45, 0x49, 0x52, 0x44, 0x45, 0x4c, 0x0a);
export const DELTA_VERSION = 1;
const VERSION_OFFSET = 8;
/** Where the header of the new image begins. */
export const IMAGE_HEADER_OFFSET = 16;
/** Magic, version, and the header of the new image. */
export const HEAD_BYTES = IMAGE_HEADER_OFFSET + HEADER_BYTES;
/** Words of a changed name: low and high half of its hash, and its set number in the new image; 0: it is gone. */
export const ROW_WORDS = 3;

export function deltaHead(imageHeader: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(HEAD_BYTES);
  head.set(DELTA_MAGIC);
  new DataView(head.buffer).setUint32(VERSION_OFFSET, DELTA_VERSION, true);
  head.set(imageHeader, IMAGE_HEADER_OFFSET);
  return head;
}

/** Whether it begins as a delta of this version. */
export function isDeltaHead(head: Uint8Array<ArrayBuffer>): boolean {
  const { buffer, byteOffset } = head;
  const version = new DataView(buffer, byteOffset).getUint32(VERSION_OFFSET, true);
  return DELTA_MAGIC.every((byte, i) => head[i] === byte) && version === DELTA_VERSION;
}
