import {
  Ede,
  extendedError,
  HEADER_BYTES,
  Rcode,
  Type,
  writeAddressAnswer,
  writeAnyAnswer,
  writeEmptyAnswer,
  writeRecordsAnswer,
} from '@weir/dns-wire';
import { type Decision, isOfOrders } from '../decision.js';
import type { AskedMessage } from './decided-query.js';
import type { BlockErrors } from './block-errors.js';
import type { BlockPages } from './block-pages.js';
import type { ServerRecords } from './server-information.js';
import { writeSpecialAnswer, type SpecialMatch, Special } from './special-names.js';

const ANY_TTL_SECONDS = 3600;
const DESIGNATION_TTL_SECONDS = 300;
const NO_ADDRESSES = new Uint8Array(0);

/** The Extended DNS Error for a client that is not served (RFC 8914 §4.19). */
export const PROHIBITED = extendedError(Ede.prohibited, 'not a client of this resolver');
const PRIVATE_ADDRESS = extendedError(Ede.blocked);

export interface OwnAnswersOptions {
  readonly pages: BlockPages;
  /** The page of orders and mandatory categories; −1: the default page. */
  readonly ordersPageId: number;
  readonly blockErrors: BlockErrors;
  readonly blockTtlSeconds: number;
  /** Rdata of the SVCB records of the designated resolvers. */
  readonly designatedResolvers: readonly Uint8Array[];
}

/** Writes the answers that a resolver makes itself. Each writer returns the length in bytes. Allocates nothing. */
export class OwnAnswers {
  constructor(private readonly options: OwnAnswersOptions) {}

  writeRefusal(out: Uint8Array, { bytes, query }: AskedMessage): number {
    return writeEmptyAnswer(out, bytes, query, Rcode.refused, PROHIBITED);
  }

  /** The block page, or no records. @param limit bytes of the largest answer that the client accepts */
  writeBlock(
    out: Uint8Array,
    { bytes, query }: AskedMessage,
    decision: Decision,
    limit: number,
  ): number {
    const { pages, ordersPageId } = this.options;
    const page = pages.addressesOf(isOfOrders(decision.reason) ? ordersPageId : decision.pageId);
    const isEmpty = decision.emptyDnsAnswer;
    return writeAddressAnswer(
      out,
      bytes,
      query,
      isEmpty ? NO_ADDRESSES : page.ipv4,
      isEmpty ? NO_ADDRESSES : page.ipv6,
      this.blockTtl(decision),
      this.options.blockErrors.of(decision, query.wantsStructuredErrors),
      limit,
    );
  }

  /** NODATA with EDE 15, in place of private addresses. */
  writeNoAddress(out: Uint8Array, { bytes, query }: AskedMessage, decision: Decision): number {
    const none = NO_ADDRESSES;
    const ttl = this.blockTtl(decision);
    return writeAddressAnswer(out, bytes, query, none, none, ttl, PRIVATE_ADDRESS);
  }

  writeAny(out: Uint8Array, { bytes, query }: AskedMessage, decision: Decision): number {
    return writeAnyAnswer(out, bytes, query, Math.min(ANY_TTL_SECONDS, decision.ttlCapSeconds));
  }

  /** @param limit size in bytes of the largest answer that the client accepts */
  writeSpecial(
    out: Uint8Array,
    { bytes, query }: AskedMessage,
    { special, zoneOffset }: SpecialMatch,
    { ttlCapSeconds }: Decision,
    limit: number,
  ): number {
    if (special === Special.none) throw new Error('an answer for a name that is not special');
    const isItself = zoneOffset === HEADER_BYTES;
    if (special === Special.designated && isItself && query.qtype === Type.svcb) {
      const { designatedResolvers } = this.options;
      return writeRecordsAnswer(
        out,
        bytes,
        query,
        designatedResolvers,
        Math.min(DESIGNATION_TTL_SECONDS, ttlCapSeconds),
        limit,
      );
    }
    return writeSpecialAnswer(out, bytes, query, special, zoneOffset, ttlCapSeconds);
  }

  /** @param limit size in bytes of the largest answer that the client accepts */
  writeServer(
    out: Uint8Array,
    { bytes, query }: AskedMessage,
    { rdatas, ttlSeconds }: ServerRecords,
    { ttlCapSeconds }: Decision,
    limit: number,
  ): number {
    const ttl = Math.min(ttlSeconds, ttlCapSeconds);
    return writeRecordsAnswer(out, bytes, query, rdatas, ttl, limit);
  }

  private blockTtl({ ttlCapSeconds }: Decision): number {
    return Math.min(this.options.blockTtlSeconds, ttlCapSeconds);
  }
}
