import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const SENDER_BYTES = 12;
/** A clock that was set back by more than this gives the sender a new name. */
const CLOCK_STEP_MS = 1_000;

/** The key for messages on Redis that belongs to a token of the feed API. */
export function messageKey(feedToken: string): KeyObject {
  const bytes = hkdfSync('sha256', feedToken, '', 'weir redis messages', KEY_BYTES);
  return createSecretKey(Buffer.from(bytes));
}

/** HMAC-SHA256 (RFC 2104) over the channel and what follows the signature in a message. */
export function signatureOf(key: KeyObject, channel: string, signed: string): Buffer {
  return createHmac('sha256', key).update(`${channel}\n`).update(signed).digest();
}

/**
 * Signs the messages of one sender: `<signature>.<sender>.<time>.<text>`. Each has a later time than the one before, in
 * milliseconds since 1970, so that a receiver recognises a repetition.
 */
export class MessageSigner {
  private sender = newSender();
  private lastMs = 0;

  /** @param key the one to sign with at the moment. @param nowMs milliseconds since 1970 */
  constructor(
    private readonly key: () => KeyObject,
    private readonly nowMs: () => number,
  ) {}

  sign(channel: string, text: string): string {
    const nowMs = this.nowMs();
    if (nowMs < this.lastMs - CLOCK_STEP_MS) {
      this.sender = newSender();
      this.lastMs = 0;
    }
    this.lastMs = Math.max(this.lastMs + 1, nowMs);
    const signed = `${this.sender}.${this.lastMs}.${text}`;
    return `${signatureOf(this.key(), channel, signed).toString('base64url')}.${signed}`;
  }
}

function newSender(): string {
  return randomBytes(SENDER_BYTES).toString('base64url');
}
