import { toWireName } from '@weir/dns-name';
import { CLASS_CH, equalsIgnoringCase, HEADER_BYTES, type Query, Type } from '@weir/dns-wire';

/** Names whose TXT record of class CH is the identity of a server (RFC 4892 §2, and the older name of BIND). */
const NAMES = ['id.server', 'hostname.bind'].map(toWireName);

/** The text by which operators tell servers behind one address apart. Allocates nothing per query. */
export class ServerIdentity {
  /** Data of the NSID option (RFC 5001 §2.3). Empty: this server does not identify itself. */
  readonly nsid: Uint8Array;
  /** Rdata of the TXT record, as the only element. */
  readonly rdatas: readonly Uint8Array[];

  /** @param text at most 255 characters of ASCII */
  constructor(text = '') {
    this.nsid = Buffer.from(text, 'ascii');
    this.rdatas = [Uint8Array.of(text.length, ...this.nsid)];
  }

  /** Whether the query asks for the identity and there is one. */
  isAsked(bytes: Uint8Array, { qclass, qtype, questionEnd }: Query): boolean {
    if (qclass !== CLASS_CH || qtype !== Type.txt || this.nsid.length === 0) return false;
    for (let i = 0; i < NAMES.length; i++) {
      if (isName(bytes, questionEnd, NAMES[i])) return true;
    }
    return false;
  }
}

function isName(bytes: Uint8Array, questionEnd: number, name: Uint8Array): boolean {
  if (HEADER_BYTES + name.length > questionEnd) return false;
  return equalsIgnoringCase(bytes, HEADER_BYTES, name, 0, name.length);
}
