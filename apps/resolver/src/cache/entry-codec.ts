import {
  Flag,
  hasPrivateAddresses,
  HEADER_BYTES,
  MAX_MESSAGE_BYTES,
  type Query,
  readTtl,
  readUint32,
  removeAdditional,
  Response,
  ResponseBuilder,
  writeUint16,
  writeUint32,
} from '@weir/dns-wire';
import { TargetHashes } from '@weir/policy/answers';
import type { Question } from '../query/question.js';
import { type EntryTable, Head, Use, useAt } from './entry-table.js';

/** Value of `Head.targets`. */
const NO_TARGETS = 1;

/** Writes responses into allocated entries. Seconds are those of the clock of the cache. */
export class EntryWriter {
  constructor(private readonly table: EntryTable) {}

  /**
   * @param targets the hashes of its targets
   * @param lifeSeconds how long the answer is fresh
   * @param minTtlSeconds, maxTtlSeconds limits for the TTLs of the records; the first is at most `lifeSeconds`
   */
  write(
    at: number,
    response: Response,
    targets: TargetHashes,
    nowSeconds: number,
    lifeSeconds: number,
    minTtlSeconds: number,
    maxTtlSeconds: number,
  ): void {
    const { words, bytes } = this.table;
    const { ttlOffsets, ttlCount, recordsEnd } = response;
    this.setTimes(at, nowSeconds, lifeSeconds);
    words[at + Head.sizes] = (recordsEnd << 16) | ttlCount;
    words[at + Head.counts] = (response.answerCount << 16) | response.authorityCount;
    words[at + Head.flags] = (response.additionalCount << 16) | response.flags;
    words[at + Head.ede] = response.ede;
    words[at + Head.use] = 0;
    bytes[useAt(at) + Use.privateAddresses] = hasPrivateAddresses(response) ? 1 : 0;
    words[at + Head.targets] = (targets.size << 16) | (targets.count + 1);
    const offsetsAt = (at + Head.words) * 4;
    const messageAt = this.table.messageAt(at) * 4 - HEADER_BYTES;
    this.copyIn(at, response.bytes, recordsEnd);
    const targetsAt = this.table.targetsAt(at);
    for (let i = 0; i < targets.size; i++) words[targetsAt + i] = targets.words[i];
    for (let i = 0; i < ttlCount; i++) {
      const ttlAt = ttlOffsets[i];
      writeUint16(bytes, offsetsAt + i * 2, ttlAt);
      const ttlSeconds = Math.max(readTtl(response.bytes, ttlAt), minTtlSeconds);
      writeUint32(bytes, messageAt + ttlAt, Math.min(ttlSeconds, maxTtlSeconds));
    }
  }

  /**
   * Writes a response without records.
   * @param message begins with header and question
   * @param rcode below 16
   */
  writeFailure(
    at: number,
    message: Uint8Array,
    questionEnd: number,
    rcode: number,
    ede: number,
    nowSeconds: number,
    lifeSeconds: number,
  ): void {
    const { words, bytes } = this.table;
    this.setTimes(at, nowSeconds, lifeSeconds);
    words[at + Head.sizes] = questionEnd << 16;
    words[at + Head.counts] = 0;
    words[at + Head.flags] = Flag.qr | Flag.rd | Flag.ra | rcode;
    words[at + Head.ede] = ede;
    words[at + Head.use] = 0;
    bytes[useAt(at) + Use.failure] = 1;
    words[at + Head.targets] = NO_TARGETS;
    this.copyIn(at, message, questionEnd);
  }

  private setTimes(at: number, nowSeconds: number, lifeSeconds: number): void {
    const { words } = this.table;
    words[at + Head.storedAt] = nowSeconds;
    words[at + Head.expiresAt] = nowSeconds + lifeSeconds;
    words[at + Head.retryAt] = 0;
    words[at + Head.refreshUntil] = 0;
  }

  /** Copies a message without its header. */
  private copyIn(at: number, from: Uint8Array, end: number): void {
    const { bytes } = this.table;
    const messageAt = this.table.messageAt(at) * 4 - HEADER_BYTES;
    for (let i = HEADER_BYTES; i < end; i++) bytes[messageAt + i] = from[i];
  }
}

const HEADER_WORDS = HEADER_BYTES / 4;

/** A response out of the cache, with what was computed when it was stored. */
export interface CachedAnswer {
  readonly response: Response;
  /** The hashes of its targets. */
  readonly targets: TargetHashes;
  readonly hasPrivateAddresses: boolean;
}

/**
 * Copies the responses of entries out of the table. Seconds are those of the clock of the cache. All methods return the
 * same object, which is valid until the next call.
 */
export class EntryReader {
  private readonly message = new Int32Array((MAX_MESSAGE_BYTES + 1) / 4);
  private readonly messageBytes = new Uint8Array(this.message.buffer);
  private readonly stored = new Response();
  private readonly builder = new ResponseBuilder();
  private readonly answer = {
    response: this.stored,
    targets: new TargetHashes(),
    hasPrivateAddresses: false,
  };

  constructor(private readonly table: EntryTable) {
    this.stored.bytes = this.messageBytes;
  }

  /**
   * The response, its TTLs reduced by its age. Without its additional records when one of them has expired.
   */
  read(at: number, query: Query, nowSeconds: number): CachedAnswer {
    const { stored: response, messageBytes } = this;
    this.load(at, query);
    // The time of a lane is that of its batch: the answer may have been stored since.
    const ageSeconds = Math.max(0, nowSeconds - this.table.words[at + Head.storedAt]);
    if (this.hasExpiredAdditional(ageSeconds)) removeAdditional(response);
    for (let i = 0; i < response.ttlCount; i++) {
      const ttlAt = response.ttlOffsets[i];
      writeUint32(messageBytes, ttlAt, readUint32(messageBytes, ttlAt) - ageSeconds);
    }
    return this.answer;
  }

  /**
   * The response to another question, for a name below that of the entry (RFC 8020).
   * @param entryQuestionEnd end of the question of the entry
   * @returns null when the records are malformed, or do not fit behind the longer name
   */
  readBelow(
    at: number,
    entryQuestionEnd: number,
    { bytes, query }: Question,
    nowSeconds: number,
  ): CachedAnswer | null {
    this.read(at, query, nowSeconds);
    const { answer, stored: response, builder } = this;
    response.questionEnd = entryQuestionEnd;
    removeAdditional(response);
    builder.start(bytes, query);
    if (!builder.append(response)) return null;
    answer.response = builder.response;
    return answer;
  }

  /** The response without additional records, with one TTL for all others. */
  readWithTtl(at: number, query: Query, ttlSeconds: number): CachedAnswer {
    const { stored: response, messageBytes } = this;
    this.load(at, query);
    removeAdditional(response);
    for (let i = 0; i < response.ttlCount; i++) {
      writeUint32(messageBytes, response.ttlOffsets[i], ttlSeconds);
    }
    return this.answer;
  }

  private hasExpiredAdditional(ageSeconds: number): boolean {
    const { stored: response, messageBytes } = this;
    for (let i = response.answerCount + response.authorityCount; i < response.ttlCount; i++) {
      if (readUint32(messageBytes, response.ttlOffsets[i]) <= ageSeconds) return true;
    }
    return false;
  }

  /** Fills the response from the entry, with the TTLs as they were stored. */
  private load(at: number, query: Query): void {
    const { answer, stored: response, message } = this;
    const { words, bytes } = this.table;
    answer.response = response;
    const sizes = words[at + Head.sizes];
    const flags = words[at + Head.flags];
    response.flags = flags & 0xffff;
    response.rcode = flags & Flag.rcode;
    response.questionEnd = query.questionEnd;
    response.answerCount = words[at + Head.counts] >>> 16;
    response.authorityCount = words[at + Head.counts] & 0xffff;
    response.additionalCount = flags >>> 16;
    response.recordsEnd = sizes >>> 16;
    response.ede = words[at + Head.ede];
    answer.hasPrivateAddresses = bytes[useAt(at) + Use.privateAddresses] === 1;
    response.ttlCount = sizes & 0xffff;
    const offsetsAt = (at + Head.words) * 4;
    for (let i = 0; i < response.ttlCount; i++) {
      const offset = offsetsAt + i * 2;
      response.ttlOffsets[i] = (bytes[offset] << 8) | bytes[offset + 1];
    }
    const from = this.table.messageAt(at) - HEADER_WORDS;
    const end = (response.recordsEnd + 3) >> 2;
    for (let i = HEADER_WORDS; i < end; i++) message[i] = words[from + i];
    this.loadTargets(at);
  }

  private loadTargets(at: number): void {
    const { targets } = this.answer;
    const { words } = this.table;
    const sizeAndCount = words[at + Head.targets];
    targets.size = sizeAndCount >>> 16;
    targets.count = (sizeAndCount & 0xffff) - 1;
    const from = this.table.targetsAt(at);
    for (let i = 0; i < targets.size; i++) targets.words[i] = words[from + i];
  }
}
