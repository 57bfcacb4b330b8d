import {
  DomainError,
  type HashKey,
  normaliseDomain,
  SuffixHashes,
  toWireName,
} from '@weir/dns-name';

const MAX_NAME = 253;
const MAX_LABEL = 63;
const DOT = 0x2e;
const HYPHEN = 0x2d;

/** For each byte its lower-case form if a label may have it, else 0. */
const LABEL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte).toLowerCase();
  return /^[a-z0-9_-]$/.test(character) && byte < 128 ? character.charCodeAt(0) : 0;
});

/** Hashes the domains of a list: a plain ASCII name without a string, all others by `normaliseDomain`. */
export class NameHasher {
  readonly hashes: SuffixHashes;
  private readonly wireName = new Uint8Array(MAX_NAME + 2);
  /** The plain name that was converted last: lower case, dots between labels. */
  private readonly plain = Buffer.alloc(MAX_NAME);
  private plainLength = 0;
  /** The name that was hashed last, when it was not a plain one. */
  private text: string | null = null;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });

  constructor(key: HashKey) {
    this.hashes = new SuffixHashes(key);
  }

  /**
   * Hashes the name in bytes `start` … `end` − 1 into `hashes`, whose last is its own.
   * @returns what is wrong; null: nothing.
   */
  hash(bytes: Uint8Array, start: number, end: number): string | null {
    if (this.writePlainName(bytes, start, end)) {
      this.hashes.compute(this.wireName, 0);
      this.text = null;
      return null;
    }
    let text: string;
    try {
      text = this.decoder.decode(bytes.subarray(start, end));
    } catch {
      // The decoder throws for no other reason.
      return 'is not UTF-8 text';
    }
    return this.hashText(text);
  }

  /** Like `hash`, for a text. */
  hashText(text: string): string | null {
    try {
      this.text = normaliseDomain(text);
      this.hashes.compute(toWireName(this.text), 0);
      return null;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return error.message;
    }
  }

  /** The name that was hashed last, in normal form. */
  domain(): string {
    return this.text ?? this.plain.toString('latin1', 0, this.plainLength);
  }

  /** @returns false: the name is not a plain one, so it may be a domain or not. */
  private writePlainName(bytes: Uint8Array, start: number, givenEnd: number): boolean {
    const { wireName, plain } = this;
    const end = givenEnd > start && bytes[givenEnd - 1] === DOT ? givenEnd - 1 : givenEnd;
    if (end - start > MAX_NAME || end === start) return false;
    let lengthAt = 0;
    let at = 1;
    for (let i = start; i < end; i++, at++) {
      const byte = bytes[i];
      if (byte !== DOT) {
        const lower = LABEL_BYTES[byte];
        if (lower === 0) return false;
        wireName[at] = lower;
        plain[at - 1] = lower;
        continue;
      }
      plain[at - 1] = DOT;
      if (!this.endLabel(lengthAt, at)) return false;
      lengthAt = at;
    }
    if (!this.endLabel(lengthAt, at)) return false;
    wireName[at] = 0;
    this.plainLength = at - 1;
    // A last label that begins with a digit: perhaps an IPv4 address.
    return wireName[lengthAt + 1] > 0x39;
  }

  /** Writes a label's length. @returns false when it is empty, too long, has a hyphen at an end, or is an A-label. */
  private endLabel(lengthAt: number, at: number): boolean {
    const { wireName } = this;
    const length = at - lengthAt - 1;
    wireName[lengthAt] = length;
    if (length === 0 || length > MAX_LABEL) return false;
    if (wireName[lengthAt + 1] === HYPHEN || wireName[at - 1] === HYPHEN) return false;
    return !(length > 3 && wireName[lengthAt + 3] === HYPHEN && wireName[lengthAt + 4] === HYPHEN);
  }
}
