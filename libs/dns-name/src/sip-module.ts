/*
 * SipHash-2-4 as a WebAssembly module, put together here instruction by instruction. It is the only SipHash of the
 * project at run time. JavaScript has no fast 64-bit integers: the same hash in pairs of 32-bit words takes four times
 * as long for a name, and a cached answer of the resolver then takes 1.4 times the processor time (see the README).
 * The tests compare the module with 64-bit BigInt arithmetic (testing/sip-hash-reference.ts).
 *
 * Source of the hash: Aumasson, Bernstein, "SipHash: a fast short-input PRF" (2012), §2.
 * Source of the opcodes: WebAssembly Core Specification, §5.4.
 */

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

type Code = readonly number[];

const I32 = 0x7f;
const I64 = 0x7e;

/** Numbers of the function's parameters and locals. */
const [COUNT, FOLDED_LETTERS] = [0, 1];
/** TAKEN: how many bytes of the label are in PIECE, at most 8. */
const [SUFFIX, AT, END, TAKEN, TOTAL] = [2, 3, 4, 5, 6];
const [V0, V1, V2, V3] = [7, 8, 9, 10];
/** The copy of the state that is finalised at a label's end. */
const [F0, F1, F2, F3] = [11, 12, 13, 14];
/** The 64-bit word that collects bytes; the last word of the message, later the hash. */
const [WORD, LAST] = [15, 16];
/** Some bytes of a label, a mask of the highest bit of each byte, and a number of bits. */
const [PIECE, FOLDED, SHIFT] = [17, 18, 19];
const I32_LOCALS = 5;
const I64_LOCALS = 13;

const END_BLOCK = 0x0b;
const LOOP = [0x03, 0x40];
const IF = [0x04, 0x40];
const BRANCH_IF_TO_LOOP = [0x0d, 0];
/** Takes the first of two values if the third one is not 0, else the second. */
const SELECT = 0x1b;

const i32 = {
  isLess: 0x49,
  isAtMost: 0x4d,
  isAtLeast: 0x4f,
  add: 0x6a,
  subtract: 0x6b,
  and: 0x71,
  shiftLeft: 0x74,
};
const i64 = {
  add: 0x7c,
  subtract: 0x7d,
  and: 0x83,
  or: 0x84,
  xor: 0x85,
  shiftLeft: 0x86,
  shiftRight: 0x88,
  rotateLeft: 0x89,
  ofI32: 0xad,
  toI32: 0xa7,
};

const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const tee = (local: number): Code => [0x22, local];
/** Signed LEB128: seven bits a byte; the last byte has the sign in its second highest bit. */
const signed = (value: bigint): Code =>
  value >= -64n && value < 64n
    ? [Number(value & 0x7fn)]
    : [Number(value & 0x7fn) | 0x80, ...signed(value >> 7n)];
const int = (value: number): Code => [0x41, ...signed(BigInt(value))];
const long = (value: number | bigint): Code => [0x42, ...signed(BigInt(value))];
/** A word of eight such bytes. */
const eightTimes = (byte: number): Code =>
  long(BigInt.asIntN(64, BigInt(byte) * 0x0101_0101_0101_0101n));
const unsigned = (value: number): Code =>
  value < 128 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >> 7)];
const loadByte = (base: number): Code => [0x2d, 0, ...unsigned(base)];
const loadLong = (base: number): Code => [0x29, 0, ...unsigned(base)];
const storeInt = (base: number): Code => [0x36, 2, ...unsigned(base)];

const rotate = (local: number, by: number): Code => [...get(local), ...long(by), i64.rotateLeft];
/** `a` += `b`; `b` = (`b` rotated) ^ `a`. */
const addAndMix = (a: number, b: number, by: number): Code => [
  ...[...get(a), ...get(b), i64.add, ...tee(a)],
  ...[...rotate(b, by), i64.xor, ...set(b)],
];
const sipRound = (v0: number, v1: number, v2: number, v3: number): Code => [
  ...addAndMix(v0, v1, 13),
  ...[...rotate(v0, 32), ...set(v0)],
  ...addAndMix(v2, v3, 16),
  ...addAndMix(v0, v3, 21),
  ...addAndMix(v2, v1, 17),
  ...[...rotate(v2, 32), ...set(v2)],
];
const xorInto = (local: number, value: Code): Code => [
  ...get(local),
  ...value,
  i64.xor,
  ...set(local),
];
const times = (count: number, code: Code): Code => Array.from({ length: count }, () => code).flat();

/** The highest bit of each byte, or nothing. */
const SET_FOLDED: Code = [
  ...[...eightTimes(0x80), ...long(0), ...get(FOLDED_LETTERS), SELECT, ...set(FOLDED)],
];
/** piece = the next bytes of the label, at most 8, and 0 behind them. Up to 7 bytes behind the label are read. */
const TAKE_PIECE: Code = [
  ...[...get(END), ...int(1), i32.add, ...get(AT), i32.subtract, ...tee(TAKEN)],
  ...[...int(8), ...get(TAKEN), ...int(8), i32.isLess, SELECT, ...set(TAKEN)],
  ...[...int(64), ...get(TAKEN), ...int(3), i32.shiftLeft, i32.subtract, i64.ofI32, ...set(SHIFT)],
  ...[...get(AT), ...loadLong(Layout.message), ...get(SHIFT), i64.shiftLeft],
  ...[...get(SHIFT), i64.shiftRight, ...set(PIECE)],
];
/** Whether each byte, without its highest bit, is at least `least`: the highest bit of the sum. */
const atLeast = (least: number): Code => [
  ...[...get(PIECE), ...eightTimes(0x7f), i64.and, ...eightTimes(0x80 - least), i64.add],
];
/** The letters 'A' to 'Z' in lower case, all at once. A length byte is below 'A', so it does not change. */
const FOLD_PIECE: Code = [
  ...[...atLeast(0x41), ...atLeast(0x5b), i64.xor, ...get(FOLDED), i64.and],
  ...[...get(PIECE), ...get(FOLDED), i64.xor, i64.and],
  ...[...long(2), i64.shiftRight, ...get(PIECE), i64.or, ...set(PIECE)],
];
const ABSORB_WORD: Code = [
  ...xorInto(V3, get(WORD)),
  ...times(2, sipRound(V0, V1, V2, V3)),
  ...xorInto(V0, get(WORD)),
];
/**
 * word |= piece << total × 8 (the shift counts modulo 64). If that fills the word, the next one begins with the rest.
 */
const COLLECT_PIECE: Code = [
  ...[...get(TOTAL), i64.ofI32, ...long(3), i64.shiftLeft, ...set(SHIFT)],
  ...[...get(WORD), ...get(PIECE), ...get(SHIFT), i64.shiftLeft, i64.or, ...set(WORD)],
  ...[...get(TOTAL), ...int(7), i32.and, ...get(TAKEN), i32.add, ...int(8), i32.isAtLeast, ...IF],
  ...ABSORB_WORD,
  // Two shifts, as the rest is nothing when the shift above was 0.
  ...[...get(PIECE), ...long(1), i64.shiftRight],
  ...[...long(63), ...get(SHIFT), i64.subtract, i64.shiftRight, ...set(WORD)],
  END_BLOCK,
  ...[...get(TOTAL), ...get(TAKEN), i32.add, ...set(TOTAL)],
];
/** The last word ends with the length of the message. The state itself stays as it is for the next label. */
const FINALISE_COPY: Code = [
  ...[...get(WORD), ...get(TOTAL), i64.ofI32, ...long(56), i64.shiftLeft, i64.or, ...set(LAST)],
  ...[
    ...get(V0),
    ...set(F0),
    ...get(V1),
    ...set(F1),
    ...get(V2),
    ...set(F2),
    ...get(V3),
    ...set(F3),
  ],
  ...xorInto(F3, get(LAST)),
  ...times(2, sipRound(F0, F1, F2, F3)),
  ...xorInto(F0, get(LAST)),
  ...xorInto(F2, long(0xff)),
  ...times(4, sipRound(F0, F1, F2, F3)),
  ...[...get(F0), ...get(F1), i64.xor, ...get(F2), i64.xor, ...get(F3), i64.xor, ...set(LAST)],
];
const STORE_HASH: Code = [
  ...[...get(SUFFIX), ...int(2), i32.shiftLeft, ...get(LAST), i64.toI32, ...storeInt(Layout.low)],
  ...[...get(SUFFIX), ...int(2), i32.shiftLeft],
  ...[...get(LAST), ...long(32), i64.shiftRight, i64.toI32, ...storeInt(Layout.high)],
];

const BODY: Code = [
  ...[V0, V1, V2, V3].flatMap((v, i) => [...int(0), ...loadLong(Layout.start + i * 8), ...set(v)]),
  ...SET_FOLDED,
  ...LOOP,
  // The last label of the name is the first to be hashed, from its length byte to its last byte.
  ...[...get(COUNT), ...int(1), i32.subtract, ...get(SUFFIX), i32.subtract, ...tee(AT)],
  ...[...loadByte(Layout.labelEnds), ...set(END)],
  ...[...get(AT), ...loadByte(Layout.labelStarts), ...set(AT)],
  ...LOOP,
  ...TAKE_PIECE,
  ...FOLD_PIECE,
  ...COLLECT_PIECE,
  ...[...get(AT), ...get(TAKEN), i32.add, ...tee(AT), ...get(END), i32.isAtMost],
  ...BRANCH_IF_TO_LOOP,
  END_BLOCK,
  ...FINALISE_COPY,
  ...STORE_HASH,
  ...[...get(SUFFIX), ...int(1), i32.add, ...tee(SUFFIX), ...get(COUNT), i32.isLess],
  ...BRANCH_IF_TO_LOOP,
  END_BLOCK,
  END_BLOCK,
];

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const locals = [2, I32_LOCALS, I32, I64_LOCALS, I64];
  const code = [...locals, ...BODY];
  const [type, functions, memories, exported, codes] = [1, 3, 5, 7, 10];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    // One function of two i32 and one memory of one page that cannot grow, exported as `h` and `m`.
    ...section(type, [1, 0x60, 2, I32, I32, 0]),
    ...section(functions, [1, 0]),
    ...section(memories, [1, 1, 1, 1]),
    ...section(exported, [2, 1, 0x68, 0, 0, 1, 0x6d, 2, 0]),
    ...section(codes, [1, ...unsigned(code.length), ...code]),
  ]);
}

/** The part of WebAssembly that is used here: the compiler's library without a browser does not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => {
    readonly exports: {
      readonly h: SipModule['hashLabels'];
      readonly m: { readonly buffer: ArrayBuffer };
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

export function instantiateSip(): SipModule {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()));
  return { memory: exports.m.buffer, hashLabels: exports.h };
}
