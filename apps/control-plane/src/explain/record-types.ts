import { FIRST_META_TYPE, LAST_META_TYPE, Type } from '@weir/dns-wire';

/** Types that clients ask for and `Type` does not have, by their names in the IANA registry. */
const OTHERS = {
  ...{ LOC: 29, NAPTR: 35, CERT: 37, SSHFP: 44, DNSKEY: 48, NSEC3PARAM: 51, TLSA: 52, SMIMEA: 53 },
  ...{ CDS: 59, CDNSKEY: 60, OPENPGPKEY: 61, URI: 256, CAA: 257 },
};

const NUMBERS = new Map<string, number>([
  ...Object.entries(Type).map(([name, number]) => [name.toUpperCase(), number] as const),
  ...Object.entries(OTHERS),
]);
const NAMES = new Map(Array.from(NUMBERS, ([name, number]) => [number, name]));

/**
 * The number of a type, in any case, or as `TYPE65` (RFC 3597 §5).
 * @returns null for any other text, and for types that no resolver answers (0, OPT and meta types but ANY).
 */
export function readType(text: string): number | null {
  const name = text.toUpperCase();
  const [, digits] = /^TYPE(\d{1,5})$/.exec(name) ?? [];
  const number = digits === undefined ? (NUMBERS.get(name) ?? 0) : Number(digits);
  const isMeta = number >= FIRST_META_TYPE && number <= LAST_META_TYPE && number !== Type.any;
  return number === 0 || number > 0xffff || number === Type.opt || isMeta ? null : number;
}

export function formatType(number: number): string {
  return NAMES.get(number) ?? `TYPE${number}`;
}
