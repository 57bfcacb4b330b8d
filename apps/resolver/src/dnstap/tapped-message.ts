import { cutHash } from '@weir/dns-name';
import { HEADER_BYTES, MAX_MESSAGE_BYTES, QUESTION_FIXED_BYTES } from '@weir/dns-wire';
import type { Exchange } from '../query/exchange.js';

const QDCOUNT_OFFSET = 4;
/** In place of a hash, for a name that has none. */
const HIDDEN = 'hidden';
const INVALID = 'invalid';

/** A DNS message as the receiver gets it. Reused. */
export class TappedMessage {
  readonly bytes = new Uint8Array(MAX_MESSAGE_BYTES);
  length = 0;

  /** The whole message. */
  copy(message: Uint8Array, length: number): void {
    for (let i = 0; i < length; i++) this.bytes[i] = message[i];
    this.length = length;
  }

  /**
   * Header and question of the exchange, without records.
   * @param header of the query or of the answer
   */
  copyQuestion(header: Uint8Array, { bytes, query }: Exchange): void {
    const end = this.startQuestion(header, query.questionEnd);
    for (let i = HEADER_BYTES; i < end; i++) this.bytes[i] = bytes[i];
    this.length = end;
  }

  /**
   * The same with another name: `<hash>.invalid`, with the hash that the management API and the query log use.
   * @param isJudged whether the exchange has the hash of its name
   */
  hideQuestion(header: Uint8Array, exchange: Exchange, isJudged: boolean): void {
    const { bytes, query, nameHashLow, nameHashHigh } = exchange;
    this.length = this.startQuestion(header, query.questionEnd);
    if (this.length === HEADER_BYTES) return;
    this.length = HEADER_BYTES;
    const isKnown = isJudged && (nameHashLow !== 0 || nameHashHigh !== 0);
    const hash = cutHash(nameHashLow >>> 0, nameHashHigh >>> 0);
    this.writeLabel(isKnown ? String(hash) : HIDDEN);
    this.writeLabel(INVALID);
    this.bytes[this.length++] = 0;
    const from = query.questionEnd - QUESTION_FIXED_BYTES;
    for (let i = 0; i < QUESTION_FIXED_BYTES; i++) this.bytes[this.length++] = bytes[from + i];
  }

  /** @returns the end of the question */
  private startQuestion(header: Uint8Array, questionEnd: number): number {
    this.bytes.fill(0, QDCOUNT_OFFSET, HEADER_BYTES);
    for (let i = 0; i < QDCOUNT_OFFSET; i++) this.bytes[i] = header[i];
    this.bytes[QDCOUNT_OFFSET + 1] = questionEnd > HEADER_BYTES ? 1 : 0;
    return questionEnd;
  }

  private writeLabel(label: string): void {
    this.bytes[this.length++] = label.length;
    for (let i = 0; i < label.length; i++) this.bytes[this.length++] = label.charCodeAt(i);
  }
}
