import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from './random.js';
import { isChannelMessage, RespFrames } from './resp-frames.js';

/** What the proxy does to channel messages; everything else passes. */
export interface MessageFaults {
  /** Probability that a message is lost. */
  readonly drop: number;
  /** Probability that it comes twice. */
  readonly duplicate: number;
}

interface Link {
  readonly client: Socket;
  readonly redis: Socket;
  isSilent: boolean;
}

const NO_FAULTS: MessageFaults = { drop: 0, duplicate: 0 };

/**
 * Stands between Weir and its Redis, and loses or doubles whole messages of channels; delays, silences and cuts
 * connections.
 */
export class RedisProxy {
  readonly counts = { messages: 0, dropped: 0, duplicated: 0, cut: 0, stalled: 0, silenced: 0 };
  faults = NO_FAULTS;
  private readonly links = new Set<Link>();
  private readonly server: Server;

  constructor(
    private readonly redisPort: number,
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

  /** Lets everything pass again. */
  heal(): void {
    this.faults = NO_FAULTS;
  }

  /** Cuts this share of the connections. */
  cut(share: number): void {
    for (const { client } of this.links) {
      if (!this.random.chance(share)) continue;
      this.counts.cut++;
      client.destroy();
    }
  }

  /** Holds back everything on this share of the connections. */
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

  /** Loses everything on this share of the connections, for as long as they are kept. */
  silence(share: number): void {
    for (const link of this.links) {
      if (!this.random.chance(share)) continue;
      this.counts.silenced++;
      link.isSilent = true;
    }
  }

  private link(client: Socket): void {
    const redis = connect(this.redisPort, '127.0.0.1');
    const link: Link = { client, redis, isSilent: false };
    this.links.add(link);
    const frames = new RespFrames();
    client.setNoDelay(true);
    redis.setNoDelay(true);
    client.on('data', (chunk: Buffer) => {
      if (!link.isSilent) redis.write(chunk);
    });
    redis.on('data', (chunk: Buffer) => {
      if (link.isSilent) return;
      for (const frame of frames.push(chunk)) this.pass(frame, client);
    });
    for (const socket of [client, redis]) {
      // An end that breaks is closed next, and takes the other with it.
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
