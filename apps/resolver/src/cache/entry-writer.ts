import {
  Flag,
  HEADER_BYTES,
  hasPrivateAddresses,
  readTtl,
  type Response,
  writeUint16,
  writeUint32,
} from '@weir/dns-wire';
import type { TargetHashes } from '@weir/policy/answers';
import { Head, Use, type EntryTable, useAt } from './entry-table.js';

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
