import { toWireName } from '@weir/dns-name';
import {
  CLASS_CH,
  CLASS_IN,
  equalsIgnoringCase,
  HEADER_BYTES,
  type Query,
  Type,
} from '@weir/dns-wire';

/** Names whose TXT record of class CH is the identity of a server (RFC 4892 §2, and the older name of BIND). */
const IDENTITY_NAMES = ['id.server', 'hostname.bind'];
/** The name of every resolver for its clients (RFC 9462 §4). */
const RESOLVER_NAME = 'resolver.arpa';
const INFO_TTL_SECONDS = 300;
/** The last code that is assigned (RFC 8914 §5.2, and its registry). */
const LAST_ERROR = 30;

interface ServerRecordsOptions {
  /** By which operators tell servers behind one address apart: at most 255 characters of ASCII. Undefined: none. */
  readonly identity?: string | undefined;
  /** The designated name (RFC 9462); undefined: none. */
  readonly name?: string | undefined;
  /** Where the provider describes its resolvers: `https`, at most 247 characters of ASCII. Undefined: nowhere. */
  readonly infoUrl?: string | undefined;
}

/** The records of a type that a server has about itself. */
export interface ServerRecords {
  /** Wire names in lower case. */
  readonly names: readonly Uint8Array[];
  readonly qclass: number;
  readonly qtype: number;
  readonly ttlSeconds: number;
  readonly rdatas: readonly Uint8Array[];
}

/** What a server says about itself, whatever the policy is. Allocates nothing per query. */
export class ServerInformation {
  /** Data of the NSID option (RFC 5001 §2.3). Empty: this server does not identify itself. */
  readonly nsid: Uint8Array;
  private readonly all: readonly ServerRecords[];

  constructor({ identity = '', name, infoUrl }: ServerRecordsOptions = {}) {
    this.nsid = Buffer.from(identity, 'ascii');
    // RFC 9606 §5: it returns its own errors and those of upstreams, and does not minimise the names that it forwards.
    const info = [`exterr=0-${LAST_ERROR}`];
    if (infoUrl !== undefined) info.push(`infourl=${infoUrl}`);
    const resolverInfo: ServerRecords = {
      names: [RESOLVER_NAME, ...(name === undefined ? [] : [name])].map(toWireName),
      qclass: CLASS_IN,
      qtype: Type.resinfo,
      ttlSeconds: INFO_TTL_SECONDS,
      rdatas: [characterStrings(...info)],
    };
    const identityRecords: ServerRecords = {
      names: IDENTITY_NAMES.map(toWireName),
      qclass: CLASS_CH,
      qtype: Type.txt,
      ttlSeconds: 0,
      rdatas: [characterStrings(identity)],
    };
    this.all = identity === '' ? [resolverInfo] : [resolverInfo, identityRecords];
  }

  /** The records that a query asks for; null: it asks for others. */
  find(bytes: Uint8Array, { qclass, qtype, questionEnd }: Query): ServerRecords | null {
    for (let i = 0; i < this.all.length; i++) {
      const records = this.all[i];
      if (qtype !== records.qtype || qclass !== records.qclass) continue;
      for (let n = 0; n < records.names.length; n++) {
        if (isName(bytes, questionEnd, records.names[n])) return records;
      }
    }
    return null;
  }
}

/** Rdata of a TXT record, and of one that is like it. */
function characterStrings(...texts: string[]): Uint8Array {
  return Buffer.concat(
    texts.map((text) => Buffer.from(`${String.fromCharCode(text.length)}${text}`, 'latin1')),
  );
}

function isName(bytes: Uint8Array, questionEnd: number, name: Uint8Array): boolean {
  if (HEADER_BYTES + name.length > questionEnd) return false;
  return equalsIgnoringCase(bytes, HEADER_BYTES, name, 0, name.length);
}
