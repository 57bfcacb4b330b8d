import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

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
function signatureOf(key: KeyObject, channel: string, signed: string): Buffer {
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

/** Why a message is ignored. */
export type Refusal =
  /** Its signature is none of this deployment. */
  | 'forged'
  /** The same message, or a later one of its sender, was received before. */
  | 'replayed'
  /** It is older or newer than clocks may differ. */
  | 'stale';

/** Nothing older is accepted, and nothing that is as much ahead. */
export const CLOCK_TOLERANCE_MS = 30_000;

/** 32 bytes in base64url. */
const SIGNATURE_LENGTH = 43;
const SIGNED = /^([\w-]{16})\.(\d{1,15})\./;
/** Senders are forgotten once all that they have sent is stale. */
const SWEEP_SENDERS = 4_096;

/** A message of this deployment. */
interface SignedMessage {
  readonly text: string;
  readonly sender: string;
  /** In milliseconds since 1970. */
  readonly sentMs: number;
}

/** Tells which messages were sent by a process of the deployment, lately, and are no repetition. */
export class MessageVerifier {
  /** When the last message of each sender was sent. Only senders with a key get here. */
  private readonly lastMs = new Map<string, number>();
  private sweepAt = SWEEP_SENDERS;

  /** @param keys those that are accepted at the moment. @param nowMs milliseconds since 1970 */
  constructor(
    private readonly keys: () => readonly KeyObject[],
    private readonly nowMs: () => number,
  ) {}

  verify(channel: string, message: string): SignedMessage | Refusal {
    const opened = this.open(channel, message);
    if (opened === null) return 'forged';
    const { sender, sentMs } = opened;
    const nowMs = this.nowMs();
    if (Math.abs(nowMs - sentMs) > CLOCK_TOLERANCE_MS) return 'stale';
    if (sentMs <= (this.lastMs.get(sender) ?? 0)) return 'replayed';
    this.remember(sender, sentMs, nowMs);
    return opened;
  }

  /** Reads a message of any age, as often as it comes. @returns null when it is forged */
  open(channel: string, message: string): SignedMessage | null {
    const signed = message.slice(SIGNATURE_LENGTH + 1);
    const [head, sender, time] = SIGNED.exec(signed) ?? [];
    if (head === undefined || !this.isSigned(channel, message.slice(0, SIGNATURE_LENGTH), signed)) {
      return null;
    }
    return { text: signed.slice(head.length), sentMs: Number(time), sender };
  }

  private isSigned(channel: string, signature: string, signed: string): boolean {
    const presented = Buffer.from(signature, 'base64url');
    return this.keys().some((key) => {
      const expected = signatureOf(key, channel, signed);
      return presented.length === expected.length && timingSafeEqual(presented, expected);
    });
  }

  private remember(sender: string, sentMs: number, nowMs: number): void {
    this.lastMs.set(sender, sentMs);
    if (this.lastMs.size < this.sweepAt) return;
    for (const [one, lastMs] of this.lastMs) {
      if (lastMs < nowMs - CLOCK_TOLERANCE_MS) this.lastMs.delete(one);
    }
    this.sweepAt = Math.max(SWEEP_SENDERS, 2 * this.lastMs.size);
  }
}
