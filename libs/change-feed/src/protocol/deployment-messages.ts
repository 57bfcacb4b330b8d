import type { KeyObject } from 'node:crypto';
import type { FeedLogger } from '../runtime/feed-logger.js';
import { type Deployment, redisNames, type RedisNames, unsignedNames } from './deployment.js';
import { messageKey, MessageSigner } from './message-signer.js';
import { MessageVerifier, type Refusal } from './message-verifier.js';

export type ChannelKind = 'change' | 'head' | 'follower';

/** A message as it is sent. */
export interface OutgoingMessage {
  readonly names: RedisNames;
  readonly channel: string;
  readonly message: string;
}

/** How often messages that are ignored for the same reason are logged. */
const LOG_INTERVAL_MS = 60_000;
const EXPLANATIONS: Readonly<Record<Refusal, string>> = {
  forged: 'a message on Redis has no signature of this deployment, and is ignored',
  replayed: 'a message on Redis was received before, and is ignored',
  stale: 'a message on Redis was sent too long ago or in the future, and is ignored',
  unsigned:
    'a process of a release that does not sign messages is ignored: see REDIS_UNSIGNED_UNTIL in the upgrade notes',
};

/**
 * The messages of a deployment on Redis, as a process sends and receives them. They are signed. Up to
 * `unsignedUntilMs` the process also takes part under the names of releases that do not sign, and believes what comes
 * there.
 */
export class DeploymentMessages {
  /** Messages that were ignored. */
  readonly refused: Record<Refusal, number> = { forged: 0, replayed: 0, stale: 0, unsigned: 0 };
  readonly names: RedisNames;
  private readonly unsigned: RedisNames;
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
    this.unsigned = unsignedNames(deployment.tokens()[0] ?? '');
    this.signer = new MessageSigner(() => this.currentKeys()[0], nowMs);
    this.verifier = new MessageVerifier(() => this.currentKeys(), nowMs);
  }

  /** All names under which messages of this deployment may come. */
  get allNames(): readonly RedisNames[] {
    return [this.names, this.unsigned];
  }

  channels(...kinds: readonly ChannelKind[]): string[] {
    return this.allNames.flatMap((names) => kinds.map((kind) => names[kind]));
  }

  is(kind: ChannelKind, channel: string): boolean {
    return channel === this.names[kind] || channel === this.unsigned[kind];
  }

  /** What is to be sent for one text: one message, or two while a release is around that does not sign. */
  outgoing(kind: ChannelKind, text: string): OutgoingMessage[] {
    const { names, unsigned } = this;
    const message = this.sign(names[kind], text);
    const signed: OutgoingMessage = { names, channel: names[kind], message };
    if (!this.acceptsUnsigned()) return [signed];
    return [signed, { names: unsigned, channel: unsigned[kind], message: text }];
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
    // Redis keeps no unsigned message for long.
    if (this.isUnsigned(channel))
      return this.acceptsUnsigned() ? { text: message, ageMs: 0 } : null;
    const read = this.verifier.read(channel, message);
    return read === 'forged' ? null : { text: read.text, ageMs: this.nowMs() - read.sentMs };
  }

  private verify(channel: string, message: string): { readonly text: string } | Refusal {
    if (!this.isUnsigned(channel)) return this.verifier.verify(channel, message);
    return this.acceptsUnsigned() ? { text: message } : 'unsigned';
  }

  private isUnsigned(channel: string): boolean {
    const { change, head, follower } = this.unsigned;
    return channel === change || channel === head || channel === follower;
  }

  private acceptsUnsigned(): boolean {
    return this.nowMs() < (this.deployment.unsignedUntilMs ?? 0);
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
