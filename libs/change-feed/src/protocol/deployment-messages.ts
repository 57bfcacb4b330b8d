import { type KeyObject, createHash } from 'node:crypto';
import type { FeedLogger } from '../runtime/feed-logger.js';
import { messageKey, MessageSigner, MessageVerifier, type Refusal } from './message-signatures.js';

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

/** The messages of a deployment on Redis, as a process signs and verifies them. */
export class DeploymentMessages {
  /** Messages that were ignored. */
  readonly refused: Record<Refusal, number> = { forged: 0, replayed: 0, stale: 0 };
  readonly names: RedisNames;
  private readonly signer: MessageSigner;
  private readonly verifier: MessageVerifier;
  private readonly loggedMs = new Map<Refusal, number>();
  private keyTokens: readonly string[] = [];
  private keys: readonly KeyObject[] = [];

  /** @param nowMs milliseconds since 1970 */
  constructor(
    private readonly deployment: Deployment,
    private readonly log: FeedLogger,
    private readonly nowMs: () => number = Date.now,
  ) {
    this.names = redisNames(deployment.id);
    this.signer = new MessageSigner(() => this.currentKeys()[0], nowMs);
    this.verifier = new MessageVerifier(() => this.currentKeys(), nowMs);
  }

  sign(channel: string, text: string): string {
    return this.signer.sign(channel, text);
  }

  /** The text of a message; null: it is to be ignored, and was counted. */
  open(channel: string, message: string): string | null {
    const opened = this.verifier.verify(channel, message);
    if (typeof opened !== 'string') return opened.text;
    this.refused[opened]++;
    this.logRefusal(opened, channel);
    return null;
  }

  /** As `open`, for a message that may have been received before, and is not needed then. */
  openAgain(channel: string, message: string): string | null {
    const opened = this.verifier.verify(channel, message);
    return typeof opened === 'string' ? null : opened.text;
  }

  /** A message that may be old, and how old it is; null: nobody of this deployment has sent it. */
  openKept(
    channel: string,
    message: string,
  ): { readonly text: string; readonly ageMs: number } | null {
    const opened = this.verifier.open(channel, message);
    return opened && { text: opened.text, ageMs: this.nowMs() - opened.sentMs };
  }

  private currentKeys(): readonly KeyObject[] {
    const tokens = this.deployment.tokens();
    const { keyTokens } = this;
    if (tokens.length !== keyTokens.length || tokens.some((token, i) => token !== keyTokens[i])) {
      this.keyTokens = [...tokens];
      this.keys = tokens.map(messageKey);
    }
    return this.keys;
  }

  /** Somebody who can write to Redis must not fill the log. */
  private logRefusal(reason: Refusal, channel: string): void {
    const nowMs = this.nowMs();
    if (Math.abs(nowMs - (this.loggedMs.get(reason) ?? -Infinity)) < LOG_INTERVAL_MS) return;
    this.loggedMs.set(reason, nowMs);
    this.log.warn({ channel, count: this.refused[reason] }, EXPLANATIONS[reason]);
  }
}
