import { SIP_WASM } from './sip-wasm.js';

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

export interface SipModule {
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
