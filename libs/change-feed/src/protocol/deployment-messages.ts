import type { KeyObject } from 'node:crypto';
import type { FeedLogger } from '../runtime/feed-logger.js';
import { type Deployment, redisNames, type RedisNames } from './deployment.js';
import { messageKey, MessageSigner } from './message-signer.js';
import { MessageVerifier, type Refusal } from './message-verifier.js';

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
    const opened = this.verify(channel, message);
    if (typeof opened !== 'string') return opened.text;
    this.refused[opened]++;
    this.logRefusal(opened, channel);
    return null;
  }

  /** As `open`, for a message that may have been received before, and is not needed then. */
  openAgain(channel: string, message: string): string | null {
    const opened = this.verify(channel, message);
    return typeof opened === 'string' ? null : opened.text;
  }

  /** A message that may be old, and how old it is; null: nobody of this deployment has sent it. */
  openKept(
    channel: string,
    message: string,
  ): { readonly text: string; readonly ageMs: number } | null {
    const read = this.verifier.read(channel, message);
    return read === 'forged' ? null : { text: read.text, ageMs: this.nowMs() - read.sentMs };
  }

  private verify(channel: string, message: string): { readonly text: string } | Refusal {
    return this.verifier.verify(channel, message);
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
