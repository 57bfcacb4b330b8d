import { createSocket, type Socket } from 'node:dgram';
import { nowMs } from '../shared/clock.js';
import { readAnswer } from '../../deployment/dns-message.js';
import { NEIGHBOUR, SERVER } from '../shared/target.js';
import { GIVE_UP_MS, type Recorder } from './recorder.js';
import type { Kind } from './sample.js';

interface Open {
  readonly kind: Kind;
  readonly expected: string;
  readonly sentMs: number;
}

const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** Queries over UDP from one port of the neighbour. */
export class UdpQueries {
  private readonly socket: Socket = createSocket({
    type: 'udp4',
    recvBufferSize: RECEIVE_BUFFER_BYTES,
  });
  /** By id, oldest first. */
  private readonly open = new Map<number, Open>();
  private id = 0;

  constructor(
    private readonly port: number,
    private readonly recorder: Recorder,
  ) {
    this.socket.on('message', (answer) => this.take(answer));
    this.socket.on('error', () => undefined); // An ICMP error for a query that stays without an answer.
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.bind(0, NEIGHBOUR, resolve));
  }

  ask(kind: Kind, query: Buffer, expected: string): void {
    this.id = (this.id + 1) & 0xffff;
    query.writeUInt16BE(this.id, 0);
    this.open.set(this.id, { kind, expected, sentMs: nowMs() });
    this.socket.send(query, this.port, SERVER);
  }

  /** Records the queries that have waited too long. */
  giveUp(): void {
    const before = nowMs() - GIVE_UP_MS;
    for (const [id, { kind, expected, sentMs }] of this.open) {
      if (sentMs > before) return;
      this.open.delete(id);
      this.recorder.record(kind, sentMs, null, expected);
    }
  }

  /** The local port. */
  get localPort(): number {
    return this.socket.address().port;
  }

  private take(answer: Buffer): void {
    const id = answer.readUInt16BE(0);
    const asked = this.open.get(id);
    if (asked === undefined) return;
    this.open.delete(id);
    this.recorder.record(asked.kind, asked.sentMs, readAnswer(answer), asked.expected);
  }
}
