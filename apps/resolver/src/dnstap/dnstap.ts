import { cutHash } from '@weir/dns-name';
import { MAX_MESSAGE_BYTES, writeUint32, HEADER_BYTES, QUESTION_FIXED_BYTES } from '@weir/dns-wire';
import { readVersion } from '@weir/ops/version';
import type { SentConfiguration } from '../configuration.js';
import { type Exchange, Transport } from '../query/exchange.js';
import type { FrameSender } from './frame-sender.js';

const QDCOUNT_OFFSET = 4;
/** In place of a hash, for a name that has none. */
const HIDDEN = 'hidden';
const INVALID = 'invalid';

/** A DNS message as the receiver gets it. Reused. */
class TappedMessage {
  readonly bytes = new Uint8Array(MAX_MESSAGE_BYTES);
  length = 0;

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

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Writes the fields of a Protocol Buffers message, one after the other, into its own memory. */
class ProtobufWriter {
  readonly bytes: Uint8Array;
  length = 0;

  /** @param capacity of the longest message, in bytes */
  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  clear(): void {
    this.length = 0;
  }

  /** @param value a whole number, 0 … 2^53 − 1 */
  uint(field: number, value: number): void {
    this.varint(field * 8 + VARINT);
    this.varint(value);
  }

  /** @param value 0 … 2^32 − 1 */
  fixed32(field: number, value: number): void {
    this.varint(field * 8 + FIXED32);
    for (let shift = 0; shift < 32; shift += 8) this.bytes[this.length++] = value >>> shift;
  }

  /** The first `length` bytes of `value`. */
  data(field: number, value: Uint8Array, length: number): void {
    this.varint(field * 8 + LENGTH_DELIMITED);
    this.varint(length);
    for (let i = 0; i < length; i++) this.bytes[this.length++] = value[i];
  }

  private varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
      this.bytes[this.length++] = (rest % 0x80) | 0x80;
    }
    this.bytes[this.length++] = rest;
  }
}

/** Field numbers and values of dnstap.proto. */
const Envelope = { identity: 1, version: 2, message: 14, type: 15 } as const;
const ENVELOPE_MESSAGE = 1;
const Field = {
  type: 1,
  socketFamily: 2,
  socketProtocol: 3,
  queryAddress: 4,
  queryPort: 6,
  queryTimeSec: 8,
  queryTimeNsec: 9,
  queryMessage: 10,
  responseTimeSec: 12,
  responseTimeNsec: 13,
  responseMessage: 14,
} as const;
const CLIENT_QUERY = 5;
const CLIENT_RESPONSE = 6;
const INET = 1;
const INET6 = 2;
const PROTOCOLS = {
  [Transport.udp]: 1,
  [Transport.tcp]: 2,
  [Transport.tls]: 3,
  [Transport.https]: 4,
} as const satisfies Record<Transport, number>;

/** Everything of an envelope but the DNS message. */
const MAX_OTHER_BYTES = 1024;

/**
 * Sends one of every n answered queries to a dnstap receiver, as CLIENT_QUERY and CLIENT_RESPONSE. A query that needed
 * no upstream has the time of its answer. Without names, the question has a keyed hash, and there are no records.
 */
export class Dnstap {
  private untilSample = 1;
  private readonly identity: Uint8Array;
  private readonly version: Uint8Array;
  private readonly address = new Uint8Array(16);
  private readonly tapped = new TappedMessage();
  private readonly message = new ProtobufWriter(MAX_MESSAGE_BYTES + MAX_OTHER_BYTES);
  private readonly envelope = new ProtobufWriter(MAX_MESSAGE_BYTES + 2 * MAX_OTHER_BYTES);

  /** @param nowMs monotonic clock of `Exchange.startedMs` */
  constructor(
    private readonly configuration: SentConfiguration,
    private readonly sender: FrameSender,
    private readonly nowMs: () => number,
  ) {
    const version = readVersion(new URL('../../../../package.json', import.meta.url), {});
    this.identity = Buffer.from(configuration.DNS_SERVER_ID ?? '');
    this.version = Buffer.from(`weir ${version}`);
  }

  /** Whether to send the current query: one in every n. Counts the queries. */
  takeSample(): boolean {
    if (--this.untilSample > 0) return false;
    this.untilSample = this.configuration.DNSTAP_SAMPLING;
    return true;
  }

  /**
   * @param isJudged whether the exchange has the hash of its name
   * @param isSecret whether a secret category has decided (decisions §14): neither the name nor its hash is sent
   */
  write(
    exchange: Exchange,
    answer: Uint8Array,
    answerLength: number,
    isJudged: boolean,
    isSecret: boolean,
  ): void {
    const { tapped } = this;
    const showNames = this.configuration.DNSTAP_NAMES && !isSecret;
    const hasHash = isJudged && !isSecret;
    const answeredMs = Date.now();
    const { startedMs } = exchange;
    const tookMs = startedMs === 0 ? 0 : this.nowMs() - startedMs;
    const askedMs = answeredMs - Math.max(tookMs, 0);

    this.begin(CLIENT_QUERY, exchange, askedMs);
    if (showNames) tapped.copyQuestion(exchange.bytes, exchange);
    else tapped.hideQuestion(exchange.bytes, exchange, hasHash);
    this.message.data(Field.queryMessage, tapped.bytes, tapped.length);
    this.send();

    this.begin(CLIENT_RESPONSE, exchange, askedMs);
    this.writeTime(Field.responseTimeSec, Field.responseTimeNsec, answeredMs);
    if (showNames) tapped.copy(answer, answerLength);
    else tapped.hideQuestion(answer, exchange, hasHash);
    this.message.data(Field.responseMessage, tapped.bytes, tapped.length);
    this.send();
  }

  private begin(type: number, exchange: Exchange, askedMs: number): void {
    const { message } = this;
    const { client, replyPath } = exchange;
    message.clear();
    message.uint(Field.type, type);
    message.uint(Field.socketFamily, client.family === 4 ? INET : INET6);
    message.uint(Field.socketProtocol, PROTOCOLS[replyPath.transport]);
    if (this.configuration.DNSTAP_ADDRESSES) {
      const words = client.family === 4 ? 1 : 4;
      for (let i = 0; i < words; i++) writeUint32(this.address, i * 4, client.words[i]);
      message.data(Field.queryAddress, this.address, words * 4);
      message.uint(Field.queryPort, client.port);
    }
    this.writeTime(Field.queryTimeSec, Field.queryTimeNsec, askedMs);
  }

  private writeTime(secField: number, nsecField: number, timeMs: number): void {
    const seconds = Math.floor(timeMs / 1000);
    this.message.uint(secField, seconds);
    this.message.fixed32(nsecField, Math.floor((timeMs - seconds * 1000) * 1e6));
  }

  private send(): void {
    const { envelope, message, identity, version } = this;
    envelope.clear();
    if (identity.length > 0) envelope.data(Envelope.identity, identity, identity.length);
    envelope.data(Envelope.version, version, version.length);
    envelope.data(Envelope.message, message.bytes, message.length);
    envelope.uint(Envelope.type, ENVELOPE_MESSAGE);
    this.sender.send(envelope.bytes, envelope.length);
  }
}
