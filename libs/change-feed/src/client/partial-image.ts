import type { ActiveCatalogue } from '@weir/config-model';
import { createHash } from 'node:crypto';

/** What an image is verified against. */
export type ImageIdentity = Pick<ActiveCatalogue, 'sha256' | 'sizeBytes'>;

/** Room for an image of so many bytes. */
export type Allocate = (bytes: number) => Uint8Array;

/** The part of a catalogue image that has arrived. */
export class PartialImage {
  readonly sha256: string;
  lengthBytes = 0;
  private readonly image: Uint8Array;
  private readonly hash = createHash('sha256');
  private isTooLong = false;

  constructor({ sha256, sizeBytes }: ImageIdentity, allocate: Allocate) {
    this.sha256 = sha256;
    this.image = allocate(sizeBytes);
  }

  /** Whether bytes are still missing. False when there are too many. */
  get isShort(): boolean {
    return !this.isTooLong && this.lengthBytes < this.image.length;
  }

  /** Adds the next bytes. @returns false when there are too many, so that this cannot be the announced image. */
  add(chunk: Uint8Array): boolean {
    this.isTooLong ||= chunk.length > this.image.length - this.lengthBytes;
    if (this.isTooLong) return false;
    this.image.set(chunk, this.lengthBytes);
    this.hash.update(chunk);
    this.lengthBytes += chunk.length;
    return true;
  }

  /** The image; null when it is incomplete or its hash is wrong. Call it once. */
  finish(): Uint8Array | null {
    const isWhole = !this.isShort && !this.isTooLong;
    return isWhole && this.hash.digest('hex') === this.sha256 ? this.image : null;
  }
}
