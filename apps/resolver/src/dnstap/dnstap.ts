import { MAX_MESSAGE_BYTES, writeUint32 } from '@weir/dns-wire';
import type { Exchange } from '../query/exchange.js';
import { Transport } from '../query/transport.js';
import type { FrameSender } from './frame-sender.js';
import { ProtobufWriter } from './protobuf-writer.js';
import { TappedMessage } from './tapped-message.js';

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

export interface DnstapOptions {
  readonly sender: FrameSender;
  /** One answered query in this many is sent; 1: every query. */
  readonly sampling: number;
  /** Whether messages have the names and records. Otherwise the question has a keyed hash, and there are no records. */
  readonly showNames: boolean;
  /** Whether messages have the address and port of the client. */
  readonly showAddresses: boolean;
  /** Undefined: messages have no identity. */
  readonly identity: string | undefined;
  readonly version: string;
  /** Monotonic clock of `Exchange.startedMs`. */
  readonly nowMs: () => number;
}

/**
 * Sends one of every n answered queries to a dnstap receiver, as CLIENT_QUERY and CLIENT_RESPONSE. A query that needed
 * no upstream has the time of its answer.
 */
export class Dnstap {
  private untilSample = 1;
  private readonly identity: Uint8Array;
  private readonly version: Uint8Array;
  private readonly address = new Uint8Array(16);
  private readonly tapped = new TappedMessage();
  private readonly message = new ProtobufWriter(MAX_MESSAGE_BYTES + MAX_OTHER_BYTES);
  private readonly envelope = new ProtobufWriter(MAX_MESSAGE_BYTES + 2 * MAX_OTHER_BYTES);

  constructor(private readonly options: DnstapOptions) {
    this.identity = Buffer.from(options.identity ?? '');
    this.version = Buffer.from(options.version);
  }

  /** Whether to send the current query: one in every n. Counts the queries. */
  takeSample(): boolean {
    if (--this.untilSample > 0) return false;
    this.untilSample = this.options.sampling;
    return true;
  }

  /** @param isJudged whether the exchange has the hash of its name */
  write(exchange: Exchange, answer: Uint8Array, answerLength: number, isJudged: boolean): void {
    const { tapped } = this;
    const answeredMs = Date.now();
    const { startedMs } = exchange;
    const tookMs = startedMs === 0 ? 0 : this.options.nowMs() - startedMs;
    const askedMs = answeredMs - Math.max(tookMs, 0);

    this.begin(CLIENT_QUERY, exchange, askedMs);
    if (this.options.showNames) tapped.copyQuestion(exchange.bytes, exchange);
    else tapped.hideQuestion(exchange.bytes, exchange, isJudged);
    this.message.data(Field.queryMessage, tapped.bytes, tapped.length);
    this.send();

    this.begin(CLIENT_RESPONSE, exchange, askedMs);
    this.writeTime(Field.responseTimeSec, Field.responseTimeNsec, answeredMs);
    if (this.options.showNames) tapped.copy(answer, answerLength);
    else tapped.hideQuestion(answer, exchange, isJudged);
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
    if (this.options.showAddresses) {
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
    this.options.sender.send(envelope.bytes, envelope.length);
  }
}
