import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from './random.js';
import { isChannelMessage, RespFrames } from './resp-frames.js';

/** Faults of pub/sub messages. Everything else passes unchanged. */
export interface MessageFaults {
  /** Probability that a message is dropped. */
  readonly drop: number;
  /** Probability that a message is delivered twice. */
  readonly duplicate: number;
}

interface Link {
  readonly client: Socket;
  readonly redis: Socket;
  isBlackhole: boolean;
}

const NO_FAULTS: MessageFaults = { drop: 0, duplicate: 0 };

/**
 * A proxy in front of Redis. It drops or duplicates whole pub/sub messages, and stalls, cuts or blackholes
 * connections.
 */
export class RedisProxy {
  readonly counts = { messages: 0, dropped: 0, duplicated: 0, cut: 0, stalled: 0, blackholed: 0 };
  faults = NO_FAULTS;
  private readonly links = new Set<Link>();
  private readonly server: Server;

  constructor(
    private readonly redisPort: () => number,
    private readonly random: Random,
  ) {
    this.server = createServer((client) => {
      this.link(client);
    });
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
  }

  async close(): Promise<void> {
    this.cut(1);
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Ends the faults of messages. */
  clearFaults(): void {
    this.faults = NO_FAULTS;
  }

  /** Closes connections. @param share which part of them, from 0 to 1 */
  cut(share: number): void {
    for (const { client } of this.links) {
      if (!this.random.chance(share)) continue;
      this.counts.cut++;
      client.destroy();
    }
  }

  /** Delays everything on some connections. @param share which part of them, from 0 to 1 */
  stall(share: number, durationMs: number): void {
    for (const { client, redis } of this.links) {
      if (!this.random.chance(share)) continue;
      this.counts.stalled++;
      client.pause();
      redis.pause();
      setTimeout(() => {
        client.resume();
        redis.resume();
      }, durationMs);
    }
  }

  /** Drops everything on some connections until they are closed. @param share which part of them, from 0 to 1 */
  blackhole(share: number): void {
    for (const link of this.links) {
      if (!this.random.chance(share)) continue;
      this.counts.blackholed++;
      link.isBlackhole = true;
    }
  }

  private link(client: Socket): void {
    const redis = connect(this.redisPort(), '127.0.0.1');
    const link: Link = { client, redis, isBlackhole: false };
    this.links.add(link);
    const frames = new RespFrames();
    client.setNoDelay(true);
    redis.setNoDelay(true);
    client.on('data', (chunk: Buffer) => {
      if (!link.isBlackhole) redis.write(chunk);
    });
    redis.on('data', (chunk: Buffer) => {
      if (link.isBlackhole) return;
      for (const frame of frames.push(chunk)) this.pass(frame, client);
    });
    for (const socket of [client, redis]) {
      // 'close' follows 'error', and closes the other end too.
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.links.delete(link);
        client.destroy();
        redis.destroy();
      });
    }
  }

  private pass(frame: Buffer, client: Socket): void {
    if (!isChannelMessage(frame)) {
      client.write(frame);
      return;
    }
    this.counts.messages++;
    if (this.random.chance(this.faults.drop)) {
      this.counts.dropped++;
      return;
    }
    client.write(frame);
    if (this.random.chance(this.faults.duplicate)) {
      this.counts.duplicated++;
      client.write(frame);
    }
  }
}
