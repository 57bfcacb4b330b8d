import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import type { Server } from '../client.js';
import { frame } from '../upstream-server.js';
import { queryAt } from './names.js';

/** A query without an answer after this time is lost. Longer than the query timeout of the resolver. */
const LOST_MS = 8_000;
const TICK_MS = 10;
const UDP_CHANNELS = 6;
const TCP_CHANNELS = 2;
/** Maximum number of open queries per channel; more could fill the buffers. */
const MAX_OPEN = 64;

/** One socket or connection, and its open queries by id. */
interface Channel {
  readonly open: Map<number, number>;
  readonly send: (packet: Uint8Array) => void;
  readonly close: () => void;
  nextId: number;
}

/** A constant load of mixed queries over UDP and TCP. Each query must be answered. */
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
  private owed = 0;

  constructor(
    private readonly server: Server,
    private readonly queriesPerSecond: number,
  ) {}

  async start(): Promise<void> {
    for (let i = 0; i < UDP_CHANNELS; i++) this.channels.push(await this.openUdp());
    for (let i = 0; i < TCP_CHANNELS; i++) this.channels.push(await this.openTcp());
    let before = performance.now();
    this.timer = setInterval(() => {
      const now = performance.now();
      this.owed += ((now - before) / 1000) * this.queriesPerSecond;
      before = now;
      this.tick(now);
    }, TICK_MS);
  }

  /** Stops sending and waits for open queries. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    while (this.channels.some(({ open }) => open.size > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      this.countLost(performance.now());
    }
    for (const { close } of this.channels) close();
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

  private take({ open }: Channel, answer: Buffer): void {
    const id = answer.readUInt16BE(0);
    const askedMs = open.get(id);
    if (askedMs === undefined) {
      this.strays++;
      return;
    }
    open.delete(id);
    this.answered++;
    this.longestMs = Math.max(this.longestMs, performance.now() - askedMs);
    const rcode = answer[3] & 15;
    this.rcodes.set(rcode, (this.rcodes.get(rcode) ?? 0) + 1);
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

  private async openTcp(): Promise<Channel> {
    const socket = connect({ host: this.server.address, port: this.server.port, noDelay: true });
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
}
