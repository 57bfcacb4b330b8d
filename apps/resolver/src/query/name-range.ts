import { equalsIgnoringCase, wireNameBytes } from '@weir/dns-wire';

export interface NameRangeOptions {
  /** Uncompressed wire name. */
  readonly name: Uint8Array;
  /** Whether the names below it belong to the range. */
  readonly isBelowIncluded: boolean;
  /** Whether NXDOMAIN of a name above it also holds for it (RFC 8020). */
  readonly hasNxDomainCut: boolean;
}

/** The names that are flushed from the cache. A wire name is given by the bytes with it and its offset. */
export class NameRange {
  constructor(private readonly options: NameRangeOptions) {}

  has(bytes: Uint8Array, offset: number): boolean {
    const { name, isBelowIncluded } = this.options;
    const isLongEnough = isBelowIncluded || wireNameBytes(bytes, offset) === name.length;
    return isLongEnough && isAtOrBelow(bytes, offset, name, 0);
  }

  /** Whether NXDOMAIN of that name is an answer for a name of the range. */
  hasNxDomain(bytes: Uint8Array, offset: number): boolean {
    const { name, hasNxDomainCut } = this.options;
    return this.has(bytes, offset) || (hasNxDomainCut && isAtOrBelow(name, 0, bytes, offset));
  }
}

/** Whether a wire name is the other one, or below it. */
function isAtOrBelow(
  bytes: Uint8Array,
  offset: number,
  otherBytes: Uint8Array,
  otherOffset: number,
): boolean {
  const length = wireNameBytes(otherBytes, otherOffset);
  let rest = wireNameBytes(bytes, offset);
  let at = offset;
  while (rest > length) {
    const labelBytes = bytes[at] + 1;
    at += labelBytes;
    rest -= labelBytes;
  }
  return rest === length && equalsIgnoringCase(bytes, at, otherBytes, otherOffset, length);
}
