import {
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { FeedLogger } from '../runtime/runtime.js';

const KEY_BYTES = 32;
const SENDER_BYTES = 12;
/** A clock that was set back by more than this gives the sender a new name. */
const CLOCK_STEP_MS = 1_000;

/** The key for messages on Redis that belongs to a token of the feed API. */
function messageKey(feedToken: string): KeyObject {
  const bytes = hkdfSync('sha256', feedToken, '', 'weir redis messages', KEY_BYTES);
  return createSecretKey(Buffer.from(bytes));
}

/** HMAC-SHA256 (RFC 2104) over the channel and what follows the signature in a message. */
function signatureOf(key: KeyObject, channel: string, signed: string): Buffer {
  return createHmac('sha256', key).update(`${channel}\n`).update(signed).digest();
}

function newSender(): string {
  return randomBytes(SENDER_BYTES).toString('base64url');
}

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

interface SignedMessage {
  readonly text: string;
  readonly sender: string;
  /** In milliseconds since 1970. */
  readonly sentMs: number;
}

/** What all processes of a deployment share. */
export interface Deployment {
  /** It separates this deployment from others on the same Redis. */
  readonly id: string;
  /**
   * Tokens of the feed API at the moment, at least one. The first is sent, and the key that signs messages on Redis is
   * derived from it. All are accepted, so that a token can be replaced without an outage.
   */
  readonly tokens: () => readonly string[];
}

/** The names that one deployment uses in Redis. Redis may lose everything: the change log is in PostgreSQL. */
interface RedisNames {
  /** Channel of committed changes, see `ChangeMessage`. */
  readonly change: string;
  /** Channel of heads: each control-plane replica publishes the head of the log each second. */
  readonly head: string;
  /** Channel of follower states: each follower publishes its state after changes and each second. */
  readonly follower: string;
  /** Key of a follower's lease; its value is the follower's last state. It is kept when the lease has ended. */
  lease(id: string): string;
  /** Key of the set of the ids of all followers with such a key. */
  readonly leases: string;
  /** Prefix of the keys of the control plane's job queue. */
  readonly jobs: string;
}

/** The names of a deployment. It may share Redis with others: pub/sub channels do not depend on the database number. */
export function redisNames(deploymentId: string): RedisNames {
  const digest = createHash('sha256').update(`weir deployment ${deploymentId}`).digest('hex');
  const prefix = `weir:${digest.slice(0, 16)}`;
  return {
    change: `${prefix}:change`,
    head: `${prefix}:head`,
    follower: `${prefix}:follower`,
    lease: (id) => `${prefix}:lease:${id}`,
    leases: `${prefix}:leases`,
    jobs: `${prefix}:jobs`,
  };
}

/** How often messages that are ignored for the same reason are logged. */
const LOG_INTERVAL_MS = 60_000;
const EXPLANATIONS: Readonly<Record<Refusal, string>> = {
  forged: 'a message on Redis has no signature of this deployment, and is ignored',
  replayed: 'a message on Redis was received before, and is ignored',
  stale: 'a message on Redis was sent too long ago or in the future, and is ignored',
};

/**
 * The messages of a deployment on Redis, as one process signs and verifies them: `<signature>.<sender>.<time>.<text>`.
 * Each of a sender has a later time than the one before, in milliseconds since 1970, so that a receiver recognises a
 * repetition.
 */
export class DeploymentMessages {
  readonly refused: Record<Refusal, number> = { forged: 0, replayed: 0, stale: 0 };
  readonly names: RedisNames;
  private sender = newSender();
  private signedMs = 0;
  /** When the last message of each sender was sent. Only senders with a key get here. */
  private readonly lastMs = new Map<string, number>();
  private sweepAt = SWEEP_SENDERS;
  private readonly loggedMs = new Map<Refusal, number>();
  private readonly keys = new Map<string, KeyObject>();

  constructor(
    private readonly deployment: Deployment,
    private readonly log: FeedLogger,
    private readonly nowMs: () => number = Date.now,
  ) {
    this.names = redisNames(deployment.id);
  }

  sign(channel: string, text: string): string {
    const nowMs = this.nowMs();
    if (nowMs < this.signedMs - CLOCK_STEP_MS) {
      this.sender = newSender();
      this.signedMs = 0;
    }
    this.signedMs = Math.max(this.signedMs + 1, nowMs);
    const signed = `${this.sender}.${this.signedMs}.${text}`;
    const [key] = this.currentKeys();
    return `${signatureOf(key, channel, signed).toString('base64url')}.${signed}`;
  }

  /** The text of a message; null: it is to be ignored, and was counted. */
  open(channel: string, message: string): string | null {
    const opened = this.verify(channel, message);
    if (typeof opened !== 'string') return opened.text;
    this.refused[opened]++;
    this.logRefusal(opened, channel);
    return null;
  }

  /** A message that was sent lately and is no repetition, or why it is to be ignored. */
  verify(channel: string, message: string): SignedMessage | Refusal {
    const opened = this.read(channel, message);
    if (opened === null) return 'forged';
    const { sender, sentMs } = opened;
    const nowMs = this.nowMs();
    if (Math.abs(nowMs - sentMs) > CLOCK_TOLERANCE_MS) return 'stale';
    if (sentMs <= (this.lastMs.get(sender) ?? 0)) return 'replayed';
    this.remember(sender, sentMs, nowMs);
    return opened;
  }

  /** Reads a message of any age, as often as it comes. @returns null when it is forged */
  read(channel: string, message: string): SignedMessage | null {
    const signed = message.slice(SIGNATURE_LENGTH + 1);
    const [head, sender, time] = SIGNED.exec(signed) ?? [];
    if (head === undefined || !this.isSigned(channel, message.slice(0, SIGNATURE_LENGTH), signed)) {
      return null;
    }
    return { text: signed.slice(head.length), sentMs: Number(time), sender };
  }

  private isSigned(channel: string, signature: string, signed: string): boolean {
    const presented = Buffer.from(signature, 'base64url');
    return this.currentKeys().some((key) => {
      const expected = signatureOf(key, channel, signed);
      return presented.length === expected.length && timingSafeEqual(presented, expected);
    });
  }

  private currentKeys(): readonly KeyObject[] {
    const tokens = this.deployment.tokens();
    return tokens.map((token) => this.keys.getOrInsertComputed(token, messageKey));
  }

  private remember(sender: string, sentMs: number, nowMs: number): void {
    this.lastMs.set(sender, sentMs);
    if (this.lastMs.size < this.sweepAt) return;
    for (const [one, lastMs] of this.lastMs) {
      if (lastMs < nowMs - CLOCK_TOLERANCE_MS) this.lastMs.delete(one);
    }
    this.sweepAt = Math.max(SWEEP_SENDERS, 2 * this.lastMs.size);
  }

  /** Somebody who can write to Redis must not fill the log. */
  private logRefusal(reason: Refusal, channel: string): void {
    const nowMs = this.nowMs();
    if (Math.abs(nowMs - (this.loggedMs.get(reason) ?? -Infinity)) < LOG_INTERVAL_MS) return;
    this.loggedMs.set(reason, nowMs);
    this.log.warn({ channel, count: this.refused[reason] }, EXPLANATIONS[reason]);
  }
}
