import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import type { Server } from '../client.js';
import {
  openHttp2,
  openTls,
  postHttp2,
  SECURE_QUERIES,
  type SecurePorts,
} from '../secure-clients.js';
import { frame } from '../upstream-server.js';
import { queryAt } from './names.js';

/** A query without an answer after this time is lost. Longer than the query timeout of the resolver. */
const LOST_MS = 30_000;
const TICK_MS = 10;
/** What a tick that comes late counts at most: meanwhile this process had no processor and read no answers. */
const MAX_TICK_MS = 100;
const UDP_CHANNELS = 6;
const TCP_CHANNELS = 2;
const TLS_CHANNELS = 2;
const HTTPS_CHANNELS = 2;
/** Interval between clients that open a connection for one query. */
const VISIT_MS = 100;
/** Maximum number of open queries per channel; more could fill the buffers. */
const MAX_OPEN = 64;

/** One socket or connection, and its open queries by id. */
interface Channel {
  readonly open: Map<number, number>;
  readonly send: (packet: Uint8Array) => void;
  readonly close: () => void;
  nextId: number;
}

/**
 * A constant load of mixed queries over UDP, TCP, TLS and HTTPS. Besides, clients come with a connection of their own
 * for one query. Each query must be answered.
 */
export class Load {
  sent = 0;
  answered = 0;
  lost = 0;
  /** Answers without a query. */
  strays = 0;
  readonly rcodes = new Map<number, number>();
  longestMs = 0;
  private readonly channels: Channel[] = [];
  private timer: NodeJS.Timeout | undefined;
  private visitTimer: NodeJS.Timeout | undefined;
  private readonly visits = new Set<Promise<void>>();
  private visited = 0;
  private owed = 0;
  /** Time in which this process ran, and the real time of the last look at it. */
  private runMs = 0;
  private lookedMs = 0;

  constructor(
    private readonly server: Server & SecurePorts,
    private readonly queriesPerSecond: number,
  ) {}

  async start(): Promise<void> {
    for (let i = 0; i < UDP_CHANNELS; i++) this.channels.push(await this.openUdp());
    const { address: host, port, tlsPort } = this.server;
    const openTcp = (): Socket => connect({ host, port, noDelay: true });
    for (let i = 0; i < TCP_CHANNELS; i++) this.channels.push(await this.openStream(openTcp()));
    for (let i = 0; i < TLS_CHANNELS; i++)
      this.channels.push(await this.openStream(openTls(tlsPort)));
    for (let i = 0; i < HTTPS_CHANNELS; i++) this.channels.push(this.openHttps());
    this.visitTimer = setInterval(() => {
      const visit = this.visit().finally(() => this.visits.delete(visit));
      this.visits.add(visit);
    }, VISIT_MS);
    this.lookedMs = performance.now();
    let before = 0;
    this.timer = setInterval(() => {
      const now = this.nowMs();
      this.owed += ((now - before) / 1000) * this.queriesPerSecond;
      before = now;
      this.tick(now);
    }, TICK_MS);
  }

  /** Stops sending and waits for open queries. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    clearInterval(this.visitTimer);
    await Promise.all(this.visits);
    while (this.channels.some(({ open }) => open.size > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      this.countLost(this.nowMs());
    }
    for (const { close } of this.channels) close();
  }

  /** A clock that stands still while this process has no processor: then it is late, not the resolver. */
  private nowMs(): number {
    const now = performance.now();
    this.runMs += Math.min(now - this.lookedMs, MAX_TICK_MS);
    this.lookedMs = now;
    return this.runMs;
  }

  private tick(now: number): void {
    this.countLost(now);
    const room = this.channels.filter(({ open }) => open.size < MAX_OPEN);
    for (; this.owed >= 1 && room.length > 0; this.owed--) {
      const at = this.sent % room.length;
      this.ask(room[at], now);
      if (room[at].open.size >= MAX_OPEN) room.splice(at, 1);
    }
    // Queries for which there was no room are not sent later in a burst.
    this.owed = Math.min(this.owed, 1);
  }

  private ask(channel: Channel, now: number): void {
    const packet = queryAt(this.sent++);
    while (channel.open.has(channel.nextId)) channel.nextId = (channel.nextId + 1) & 0xffff;
    const id = channel.nextId;
    channel.nextId = (id + 1) & 0xffff;
    packet[0] = id >>> 8;
    packet[1] = id & 255;
    channel.open.set(id, now);
    channel.send(packet);
  }

  /** A client with a connection of its own. Without an answer its query is lost. */
  private async visit(): Promise<void> {
    const ask = SECURE_QUERIES[this.visited++ % SECURE_QUERIES.length];
    this.sent++;
    try {
      const answer = await ask(this.server, queryAt(this.visited));
      this.count(answer[3] & 15);
    } catch {
      this.lost++;
    }
  }

  private count(rcode: number): void {
    this.answered++;
    this.rcodes.set(rcode, (this.rcodes.get(rcode) ?? 0) + 1);
  }

  private take({ open }: Channel, answer: Buffer): void {
    const id = answer.readUInt16BE(0);
    const askedMs = open.get(id);
    if (askedMs === undefined) {
      this.strays++;
      return;
    }
    open.delete(id);
    this.longestMs = Math.max(this.longestMs, this.nowMs() - askedMs);
    this.count(answer[3] & 15);
  }

  private countLost(now: number): void {
    for (const { open } of this.channels) {
      for (const [id, askedMs] of open) {
        if (now - askedMs < LOST_MS) break;
        open.delete(id);
        this.lost++;
      }
    }
  }

  private async openUdp(): Promise<Channel> {
    const { address, port } = this.server;
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, address, resolve));
    const channel: Channel = {
      open: new Map(),
      nextId: 0,
      send: (packet) => {
        socket.send(packet, port, address);
      },
      close: () => socket.close(),
    };
    socket.on('message', (answer, from) => {
      // The port may have belonged to another process, and packets for it may still arrive.
      if (from.port === port) this.take(channel, answer);
    });
    return channel;
  }

  private async openStream(socket: Socket): Promise<Channel> {
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const channel: Channel = {
      open: new Map(),
      nextId: 0,
      send: (packet) => socket.write(frame(packet)),
      close: () => socket.destroy(),
    };
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        this.take(channel, received.subarray(2, end));
        received = received.subarray(end);
      }
    });
    // A closed connection shows up as lost queries.
    socket.on('error', () => socket.destroy());
    return channel;
  }

  private openHttps(): Channel {
    const session = openHttp2(this.server.httpsPort);
    const channel: Channel = {
      open: new Map(),
      nextId: 0,
      send: (packet) => {
        const stream = postHttp2(session, packet);
        stream.toArray().then(
          (chunks) => {
            this.take(channel, Buffer.concat(chunks as Buffer[]));
          },
          // It shows up as a lost query.
          () => undefined,
        );
      },
      close: () => {
        session.destroy();
      },
    };
    session.on('error', () => {
      session.destroy();
    });
    return channel;
  }
}
