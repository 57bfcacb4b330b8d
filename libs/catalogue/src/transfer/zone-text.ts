import {
  ANCOUNT_OFFSET,
  ARCOUNT_OFFSET,
  CLASS_ANY,
  CLASS_IN,
  Flag,
  FLAGS_OFFSET,
  HEADER_BYTES,
  NSCOUNT_OFFSET,
  QDCOUNT_OFFSET,
  QUESTION_FIXED_BYTES,
  readUint16,
  readUint32,
  RECORD_FIXED_BYTES,
  Type,
} from '@weir/dns-wire';
import { CatalogueError } from '../catalogue-error.js';
import { canonicalName, endOfName, malformed } from './wire.js';

const RCODES = [
  ...['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED', 'YXDOMAIN', 'YXRRSET'],
  ...['NXRRSET', 'NOTAUTH', 'NOTZONE'],
];

/** Offsets of one record of a message, which ends within it. */
interface WireRecord {
  readonly owner: number;
  readonly type: number;
  readonly recordClass: number;
  readonly rdata: number;
}

/** What an answer has. */
export interface Answer {
  readonly records: readonly WireRecord[];
  /** Where the TSIG record begins; -1: there is none. */
  readonly tsigAt: number;
  readonly rcode: number;
}

/** Finds the records of an answer section, and the TSIG record. @throws CatalogueError when it is malformed. */
export function readAnswer(message: Uint8Array, id: number): Answer {
  if (message.length < HEADER_BYTES) throw malformed();
  const flags = readUint16(message, FLAGS_OFFSET);
  if (readUint16(message, 0) !== id || (flags & Flag.qr) === 0 || (flags & Flag.opcode) !== 0) {
    throw new CatalogueError('answered another question');
  }
  let at = HEADER_BYTES;
  for (let left = readUint16(message, QDCOUNT_OFFSET); left > 0; left--) {
    at = endOfName(message, at) + QUESTION_FIXED_BYTES;
  }
  const answers = readUint16(message, ANCOUNT_OFFSET);
  const others = readUint16(message, NSCOUNT_OFFSET) + readUint16(message, ARCOUNT_OFFSET);
  const records: WireRecord[] = [];
  for (let i = 0; i < answers + others; i++) {
    const fixed = endOfName(message, at);
    const rdata = fixed + RECORD_FIXED_BYTES;
    if (rdata > message.length) throw malformed();
    const type = readUint16(message, fixed);
    const record = { owner: at, type, recordClass: readUint16(message, fixed + 2), rdata };
    at = rdata + readUint16(message, fixed + 8);
    if (at > message.length) throw malformed();
    records.push(record);
  }
  if (at !== message.length) throw malformed();
  const last = records.at(-1);
  const isSigned = others > 0 && last?.type === Type.tsig && last.recordClass === CLASS_ANY;
  return {
    records: records.slice(0, answers),
    tsigAt: isSigned ? last.owner : -1,
    rcode: flags & Flag.rcode,
  };
}

/** @throws CatalogueError unless the answer is one without an error. */
export function checkRcode({ rcode }: Answer): void {
  if (rcode !== 0) throw new CatalogueError(`answered ${RCODES[rcode] ?? `RCODE ${rcode}`}`);
}

/** The serial of the zone, from the answer to a question for its SOA record. */
export function serialOf(message: Uint8Array, { records }: Answer, zone: Uint8Array): number {
  for (const record of records) {
    if (isSoaOf(message, record, zone)) return readSerial(message, record);
  }
  throw new CatalogueError('answered without an SOA record: it does not have the zone');
}

/**
 * Turns a zone transfer (RFC 5936 §2.2) into a zone file whose first record is line 1, with what format rpz reads.
 * Changes (RFC 1995 §4) have their SOA records in it.
 */
export class ZoneText {
  serial: number | null = null;
  /** Whether it is changes, or the whole zone; null: the second record, which tells, has not come. */
  isIncremental: boolean | null = null;
  /** Whether the SOA record that ends the transfer has come. */
  isComplete = false;
  /** Of changes: whether the records that come are added, to which serial. */
  private isAdding = true;
  private reached: number | null;

  /** @param since the serial since which changes were asked for; null: the whole zone was. */
  constructor(
    private readonly zone: Uint8Array,
    since: number | null = null,
  ) {
    this.reached = since;
  }

  /** @returns the lines of the message. @throws CatalogueError when this is no transfer of the zone. */
  take(message: Uint8Array, { records }: Answer): string {
    let lines = '';
    for (const record of records) lines += this.line(message, record);
    return lines;
  }

  private line(message: Uint8Array, record: WireRecord): string {
    if (this.isComplete) throw new CatalogueError('sent records behind the end of the zone');
    const isSoa = isSoaOf(message, record, this.zone);
    if (this.serial === null) {
      if (!isSoa) throw new CatalogueError('sent a zone that does not begin with its SOA record');
      this.serial = readSerial(message, record);
    } else {
      const serial = isSoa ? readSerial(message, record) : null;
      this.isIncremental ??= serial !== null && serial === this.reached;
      if (serial !== null) this.soa(serial);
      if (this.isComplete) return '';
    }
    const owner = nameText(canonicalName(message, record.owner));
    if (isSoa) return `${owner} SOA\n`;
    switch (record.type) {
      case Type.ns:
        return `${owner} NS\n`;
      case Type.cname:
        return `${owner} CNAME ${nameText(canonicalName(message, record.rdata))}\n`;
      default:
        return `${owner} TYPE${record.type}\n`;
    }
  }

  /** Another SOA record than the first. Of changes each pair has the serial before and that after them. */
  private soa(serial: number): void {
    if (this.isIncremental === false) {
      if (serial !== this.serial) {
        throw new CatalogueError('sent a zone that ends with another serial');
      }
      this.isComplete = true;
    } else if (!this.isAdding) {
      this.reached = serial;
      this.isAdding = true;
    } else if (serial !== this.reached) {
      throw new CatalogueError('sent changes that do not follow each other');
    } else if (serial === this.serial) this.isComplete = true;
    else this.isAdding = false;
  }
}

function isSoaOf(message: Uint8Array, record: WireRecord, zone: Uint8Array): boolean {
  const { type, recordClass, owner } = record;
  return (
    type === Type.soa && recordClass === CLASS_IN && canonicalName(message, owner).equals(zone)
  );
}

/** SOA: two names, then the serial (RFC 1035 §3.3.13). */
function readSerial(message: Uint8Array, { rdata }: WireRecord): number {
  const serial = endOfName(message, endOfName(message, rdata));
  if (serial + 4 > message.length) throw malformed();
  return readUint32(message, serial);
}

/** A wire name as in a zone file (RFC 1035 §5.1), with its dot at the end. */
function nameText(name: Uint8Array): string {
  let text = '';
  for (let at = 0; name[at] !== 0; at += name[at] + 1) {
    for (let i = at + 1; i <= at + name[at]; i++) text += BYTE_TEXTS[name[i]];
    text += '.';
  }
  return text === '' ? '.' : text;
}

const BYTE_TEXTS = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[\w*-]/.test(character) ? character : `\\${String(byte).padStart(3, '0')}`;
});
