import { FIRST_META_TYPE, LAST_META_TYPE, Type } from '@weir/dns-wire';

/** Types that clients ask for, by the names of the IANA registry. */
const NUMBERS = {
  A: Type.a,
  NS: Type.ns,
  CNAME: Type.cname,
  SOA: Type.soa,
  PTR: Type.ptr,
  HINFO: Type.hinfo,
  MX: Type.mx,
  TXT: Type.txt,
  AAAA: Type.aaaa,
  LOC: 29,
  SRV: Type.srv,
  NAPTR: 35,
  CERT: 37,
  DNAME: Type.dname,
  DS: Type.ds,
  SSHFP: 44,
  RRSIG: Type.rrsig,
  NSEC: Type.nsec,
  DNSKEY: 48,
  NSEC3: Type.nsec3,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  SVCB: Type.svcb,
  HTTPS: Type.https,
  ANY: Type.any,
  URI: 256,
  CAA: 257,
  RESINFO: Type.resinfo,
} as const;

const NAMES = new Map(Object.entries(NUMBERS).map(([name, number]) => [number as number, name]));
const UNNAMED = /^TYPE(\d{1,5})$/;

/**
 * The number of a type, in any case, or as `TYPE65` (RFC 3597 §5).
 * @returns null for any other text, and for types that no resolver answers (0, OPT and meta types but ANY).
 */
export function readType(text: string): number | null {
  const name = text.toUpperCase();
  const number = UNNAMED.test(name)
    ? Number(UNNAMED.exec(name)?.[1])
    : Object.hasOwn(NUMBERS, name)
      ? NUMBERS[name as keyof typeof NUMBERS]
      : 0;
  const isMeta = number >= FIRST_META_TYPE && number <= LAST_META_TYPE && number !== Type.any;
  return number === 0 || number > 0xffff || number === Type.opt || isMeta ? null : number;
}

export function formatType(number: number): string {
  return NAMES.get(number) ?? `TYPE${number}`;
}
