import { CatalogueError } from '../catalogue-error.js';
import { FORMAT_VERSION, Header, HEADER_BYTES, MAGIC } from './image-format.js';

/** The value of a field of a header. */
export type HeaderField = (name: keyof typeof Header) => number;

/** The sections of an image, in place. */
export interface Sections {
  readonly hashes: Uint32Array;
  readonly setNumbers: Uint16Array | Uint32Array;
  readonly setPositions: Uint32Array;
  readonly memberships: Int32Array;
  readonly filter: Int32Array;
  readonly names: Uint8Array;
}

/**
 * Reads the header of an image of so many bytes.
 * @throws CatalogueError when it is not the header of an image of this format and size.
 */
export function readHeader(bytes: Uint8Array, imageBytes: number): HeaderField {
  check(bytes.length >= HEADER_BYTES, 'it is shorter than its header');
  check(
    MAGIC.every((byte, i) => bytes[i] === byte),
    'it does not begin as one',
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const field: HeaderField = (name) => view.getUint32(Header[name], true);
  check(field('version') === FORMAT_VERSION, `its format version is ${field('version')}`);
  check(field('totalBytes') === imageBytes, 'it is not as long as it says');
  const setNumberBytes = field('setNumberBytes');
  check(setNumberBytes === 2 || setNumberBytes === 4, 'its set numbers have an unknown size');
  const homeSlots = field('homeSlots');
  check(field('slotCount') > homeSlots && homeSlots > 0, 'its table is too small');
  return field;
}

/** The sections of an image that begins at a multiple of four bytes. @throws CatalogueError when one lies outside. */
export function sectionsOf(image: Uint8Array, field: HeaderField): Sections {
  const section = (offset: number, count: number, bytesEach: number): Uint8Array => {
    const end = offset + count * bytesEach;
    const isInside = offset >= HEADER_BYTES && offset % bytesEach === 0 && end <= image.length;
    check(isInside, 'a section lies outside of it');
    return image.subarray(offset, end);
  };
  const words = (offset: number, count: number): Uint32Array => {
    const { buffer, byteOffset } = section(offset, count, 4);
    return new Uint32Array(buffer, byteOffset, count);
  };
  const slotCount = field('slotCount');
  const setNumberBytes = field('setNumberBytes');
  const setNumbers = section(field('setNumbersOffset'), slotCount, setNumberBytes);
  const filter = words(field('filterOffset'), field('filterWords'));
  check(filter.length > 0, 'it has no filter');
  const memberships = words(field('membershipsOffset'), field('membershipsWords'));
  return {
    hashes: words(field('hashesOffset'), slotCount * 2),
    setNumbers:
      setNumberBytes === 2
        ? new Uint16Array(setNumbers.buffer, setNumbers.byteOffset, slotCount)
        : new Uint32Array(setNumbers.buffer, setNumbers.byteOffset, slotCount),
    setPositions: words(field('setPositionsOffset'), field('setCount')),
    memberships: new Int32Array(memberships.buffer, memberships.byteOffset, memberships.length),
    filter: new Int32Array(filter.buffer, filter.byteOffset, filter.length),
    names: section(field('namesOffset'), field('namesBytes'), 1),
  };
}

export function check(isValid: boolean, problem: string): void {
  if (!isValid) throw new CatalogueError(`not a usable catalogue image: ${problem}`);
}
