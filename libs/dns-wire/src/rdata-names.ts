import { RECORD_FIXED_BYTES, Type } from './protocol.js';

/**
 * Types whose rdata may have compressed names, one after another (RFC 1035 §3.3, RFC 3597 §4): type, bytes before the
 * first name, number of names.
 */
// prettier-ignore
const COMPRESSIBLE: readonly (readonly [type: number, before: number, names: number])[] = [
  [Type.ns, 0, 1], [3 /* MD */, 0, 1], [4 /* MF */, 0, 1], [Type.cname, 0, 1], [Type.soa, 0, 2], [7 /* MB */, 0, 1],
  [8 /* MG */, 0, 1], [9 /* MR */, 0, 1], [Type.ptr, 0, 1], [14 /* MINFO */, 0, 2], [Type.mx, 2, 1],
  [17 /* RP */, 0, 2], [18 /* AFSDB */, 2, 1], [21 /* RT */, 2, 1], [26 /* PX */, 2, 2], [Type.srv, 6, 1],
  [36 /* KX */, 2, 1], [39 /* DNAME */, 0, 1],
];
const TYPES = 40;
const BYTES_BEFORE = new Uint8Array(TYPES);
const NAMES = new Uint8Array(TYPES);
for (const [type, before, names] of COMPRESSIBLE) {
  BYTES_BEFORE[type] = before;
  NAMES[type] = names;
}

/** The number of names that may be compressed in the rdata of such a record. */
export function namesInRdata(type: number): number {
  return type < TYPES ? NAMES[type] : 0;
}

/** @returns the offset of the first of them, in the record whose type is at `fixed` */
export function firstNameInRdata(fixed: number, type: number): number {
  return fixed + RECORD_FIXED_BYTES + (type < TYPES ? BYTES_BEFORE[type] : 0);
}
