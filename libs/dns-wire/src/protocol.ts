/**
 * Numbers of the DNS protocol. Header layout, RFC 1035 §4.1.1 with the bits of RFC 4035 §3.2:
 *
 * ```
 *  0                   id                   1
 *  2  QR  opcode(4)  AA TC RD   RA Z AD CD rcode(4)   3
 *  4  qdcount   6  ancount   8  nscount   10  arcount
 * ```
 */
export const HEADER_BYTES = 12;

/** Byte offsets in the header. */
export const FLAGS_OFFSET = 2;
export const QDCOUNT_OFFSET = 4;
export const ANCOUNT_OFFSET = 6;
export const NSCOUNT_OFFSET = 8;
export const ARCOUNT_OFFSET = 10;

/** Masks of the 16 flag bits, most significant byte first. */
export const Flag = {
  qr: 0x8000,
  opcode: 0x7800,
  aa: 0x0400,
  tc: 0x0200,
  rd: 0x0100,
  ra: 0x0080,
  ad: 0x0020,
  cd: 0x0010,
  rcode: 0x000f,
} as const;

/** RCODEs; those above 15 need an OPT record (RFC 6895 §2.3). */
export const Rcode = {
  noError: 0,
  formErr: 1,
  servFail: 2,
  nxDomain: 3,
  notImp: 4,
  refused: 5,
  badVers: 16,
  badCookie: 23,
} as const;

/** Types of records and of questions (RFC 6895 §3.1). */
export const Type = {
  a: 1,
  ns: 2,
  cname: 5,
  dname: 39,
  soa: 6,
  ptr: 12,
  hinfo: 13,
  mx: 15,
  txt: 16,
  aaaa: 28,
  srv: 33,
  opt: 41,
  ds: 43,
  rrsig: 46,
  nsec: 47,
  nsec3: 50,
  svcb: 64,
  https: 65,
  nxname: 128,
  tsig: 250,
  ixfr: 251,
  axfr: 252,
  any: 255,
  resinfo: 261,
} as const;

/** Types 128 … 255 are question types and meta types (RFC 6895 §3.1). */
export const FIRST_META_TYPE = 128;
export const LAST_META_TYPE = 255;

export const CLASS_IN = 1;
/** Chaosnet: the class of names that describe the server itself (RFC 4892). */
export const CLASS_CH = 3;
export const CLASS_ANY = 255;

/** Maximum size of a wire name, including the root label, and of a label (RFC 1035 §2.3.4). */
export const MAX_NAME_BYTES = 255;
export const MAX_LABEL_BYTES = 63;

/**
 * Upper two bits of a label's length byte: both set means a compression pointer (RFC 1035 §4.1.4); one set is unused.
 */
export const LABEL_TYPE_MASK = 0xc0;
export const POINTER_MASK = 0x3fff;
/** A compression pointer without its offset, and the pointer to the qname. */
export const NAME_POINTER = 0xc000;
export const QNAME_POINTER = NAME_POINTER | HEADER_BYTES;

/** Type, class, TTL and RDLENGTH after the owner name of a record. */
export const RECORD_FIXED_BYTES = 10;
/** Type and class after the name of a question. */
export const QUESTION_FIXED_BYTES = 4;

/** Largest answer over UDP to a client without EDNS (RFC 1035 §4.2.1). */
export const CLASSIC_UDP_BYTES = 512;
/**
 * Largest answer over UDP, and the size that we advertise: it avoids fragmentation on usual paths (DNS flag day 2020).
 */
export const EDNS_UDP_BYTES = 1232;
/** A TTL with this bit counts as 0 (RFC 2181 §8). */
export const TTL_HIGH_BIT = 0x8000_0000;

/** Largest message over TCP: its length has two bytes (RFC 1035 §4.2.2). */
export const MAX_MESSAGE_BYTES = 65_535;

/** OPT: root name and the fixed part (RFC 6891 §6.1.2). */
export const OPT_FIXED_BYTES = 1 + RECORD_FIXED_BYTES;
/** In the OPT record's TTL: extended RCODE, version, DO (RFC 6891 §6.1.3). */
export const DNSSEC_OK = 0x8000;
export const OPTION_HEADER_BYTES = 4;
export const OPTION_NSID = 3;
export const OPTION_COOKIE = 10;
export const OPTION_KEEPALIVE = 11;
export const OPTION_PADDING = 12;
export const OPTION_EDE = 15;
/** Answers are padded to a multiple of this many bytes (RFC 8467 §4.1). */
export const PADDING_BLOCK_BYTES = 468;

/** Size of a client cookie, and of the two cookies in an answer (RFC 7873 §4, RFC 9018 §4). */
export const CLIENT_COOKIE_BYTES = 8;
export const ANSWER_COOKIE_BYTES = 24;
/** A server cookie has 8 … 32 bytes, so both together have 16 … 40. */
export const MIN_COOKIES_BYTES = 16;
export const MAX_COOKIES_BYTES = 40;

/** INFO-CODEs of Extended DNS Errors (RFC 8914 §4). */
export const Ede = {
  /** No Extended DNS Error. */
  none: -1,
  other: 0,
  staleAnswer: 3,
  cachedError: 13,
  notReady: 14,
  blocked: 15,
  censored: 16,
  filtered: 17,
  prohibited: 18,
  staleNxDomainAnswer: 19,
  notAuthoritative: 20,
  noReachableAuthority: 22,
  networkError: 23,
  invalidQueryType: 30,
} as const;
