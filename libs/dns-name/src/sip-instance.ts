import { SIP_WASM } from './sip-wasm.js';

/** A SipHash key of 128 bits: four 32-bit words, least significant first (its 16 bytes as little-endian words). */
export interface HashKey {
  readonly words: Int32Array;
}

/** The key of 32 hex digits: its 16 bytes in order. @throws RangeError for other texts, without repeating them. */
export function parseHashKey(hex: string): HashKey {
  if (!/^[0-9a-fA-F]{32}$/.test(hex)) throw new RangeError('a hash key is 32 hex digits');
  return { words: new Int32Array(Uint8Array.fromHex(hex).buffer) };
}

/** Words of SipHash's state: v0 … v3, each 64 bits as two 32-bit words, low word first. */
export const SIP_STATE_WORDS = 8;

/** The state at the start of a hash (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012, §2.1). */
export function startOfSip({ words: [k0Low, k0High, k1Low, k1High] }: HashKey): Int32Array {
  return Int32Array.of(
    k0Low ^ 0x70736575,
    k0High ^ 0x736f6d65,
    k1Low ^ 0x6e646f6d,
    k1High ^ 0x646f7261,
    k0Low ^ 0x6e657261,
    k0High ^ 0x6c796765,
    k1Low ^ 0x79746573,
    k1High ^ 0x74656462,
  );
}

/** Where data is in the module's memory, in bytes from its start. */
export const Layout = {
  /** v0 … v3 at the start of a hash under the key, 64 bits each, little-endian. */
  start: 0,
  /** The labels of a name, each its length byte and its bytes; or any message. At most 255 bytes. */
  message: 256,
  /** For each label in the order of the name, the offset in `message` of its first byte: a byte each. */
  labelStarts: 512,
  /** For each label in the order of the name, the offset in `message` of its last byte: a byte each. */
  labelEnds: 640,
  /** Low and high 32 bits of each hash; index i: the suffix of i + 1 labels. */
  low: 1024,
  high: 1536,
} as const;

/** The part of WebAssembly that is used here: the compiler's library without a browser does not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => {
    readonly exports: {
      readonly hashLabels: SipModule['hashLabels'];
      readonly memory: { readonly buffer: ArrayBuffer };
    };
  };
};

interface SipModule {
  /** One page, as `Layout` describes it. It never grows, so views of it stay valid. */
  readonly memory: ArrayBuffer;
  /**
   * Hashes the labels in `memory` in reverse order, and writes the hash up to the end of each.
   * @param count labels, at least 1.
   * @param foldedLetters 26: hashes ASCII letters in lower case. 0: hashes all bytes as they are.
   */
  readonly hashLabels: (count: number, foldedLetters: 0 | 26) => void;
}

/** SipHash-2-4 as a WebAssembly module: `sip.wat`. */
export function instantiateSip(): SipModule {
  const bytes = Uint8Array.fromBase64(SIP_WASM);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return { memory: exports.memory.buffer, hashLabels: exports.hashLabels };
}

/** Labels of the longest name: 255 bytes, each label at least two, the root one (RFC 1035 §2.3.4). */
export const MAX_LABELS = 127;
/** Bytes of the longest message, and of the longest wire name. */
export const MAX_MESSAGE_BYTES = 255;
