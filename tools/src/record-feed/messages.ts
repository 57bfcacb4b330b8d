import { Redis } from 'ioredis';

/** What stands before the text of a signed message. */
const SIGNATURE = /^[\w-]{43}\.[\w-]{16}\.\d+\./;

/** A pub/sub message: the last part of its channel's name, and its text without the signature. */
export interface Message {
  readonly channel: string;
  readonly text: string;
}

/**
 * Records all messages of Weir on a Redis server. A message that equals the one before it on its channel is skipped.
 */
export class Messages {
  readonly heard: Message[] = [];
  private readonly last = new Map<string, string>();

  private constructor(private readonly redis: Redis) {}

  static async of(redisUrl: string): Promise<Messages> {
    const redis = new Redis(redisUrl);
    const messages = new Messages(redis);
    redis.on('pmessage', (_pattern, channel: string, text: string) => {
      messages.hear(channel, text);
    });
    // `weir:<deployment>:<channel>`; channels with one more part are internal to publishers.
    await redis.psubscribe('weir:*');
    return messages;
  }

  close(): void {
    this.redis.disconnect();
  }

  private hear(name: string, message: string): void {
    const [, , channel = '', more] = name.split(':');
    if (!['change', 'head', 'follower'].includes(channel) || more !== undefined) return;
    const text = message.replace(SIGNATURE, '');
    if (this.last.get(channel) === text) return;
    this.last.set(channel, text);
    this.heard.push({ channel, text });
  }
}
