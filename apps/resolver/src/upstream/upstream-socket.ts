import type { UdpSocket } from '@weir/udp-batch';
import { createSocket, type Socket } from 'node:dgram';
import type { InFlight, QuerySocket, QuerySocketEvents } from './in-flight.js';
import type { RandomIds } from './random-ids.js';
import type { BatchedSocket, UpstreamBatches } from './upstream-batches.js';

const RECEIVE_BUFFER_BYTES = 1024 * 1024;
const IDS = 65_536;

export interface UpstreamSocketOptions {
  /** Index of the upstream. */
  readonly upstream: number;
  readonly ids: RandomIds;
  readonly events: QuerySocketEvents;
  readonly batches: UpstreamBatches;
  /** Whether the owner looks by itself whether answers have arrived. Otherwise the event loop does. */
  readonly isPolled: boolean;
}

/**
 * A UDP socket on a random port, connected to one upstream: the kernel delivers packets of that peer only. Keeps the
 * open queries by id.
 */
export class UpstreamSocket implements QuerySocket, BatchedSocket {
  readonly upstream: number;
  /** Queries sent. A socket is replaced after a number of them, so that its port changes regularly. */
  sent = 0;
  /** Packets with an id that no query of this socket has had. */
  wrongIds = 0;
  isClosed = false;
  /** One bit for each id: whether a query has had it. */
  private readonly usedIds = new Uint8Array(IDS / 8);
  private readonly waiting = new Map<number, InFlight>();
  private readonly socket: UdpSocket;
  /** Reads the socket when the event loop finds something. */
  private readonly watcher: Socket | null;

  /** @throws SystemError when it cannot be opened or connected, such as ENETUNREACH */
  constructor(private readonly options: UpstreamSocketOptions) {
    this.upstream = options.upstream;
    this.socket = options.batches.open(RECEIVE_BUFFER_BYTES);
    this.watcher = options.isPolled ? null : this.watch();
    try {
      options.batches.join(this);
    } catch (error) {
      (this.watcher ?? this.socket).close();
      throw error;
    }
  }

  get fd(): number {
    return this.socket.fd;
  }

  /** The address of this machine from which it sends, see `UdpSocket`. */
  get localAddress(): string {
    return this.socket.localAddress;
  }

  private watch(): Socket {
    const { socket } = this;
    const watcher = createSocket(socket.family === 6 ? 'udp6' : 'udp4');
    let isOwner = false;
    try {
      watcher.bind({ fd: socket.fd });
      isOwner = true;
      socket.keepPort();
    } catch (error) {
      watcher.close();
      if (!isOwner) socket.close();
      throw error;
    }
    watcher.on('message', (packet) => {
      this.onPacket(packet, packet.length);
      // More answers may have arrived, and it costs less to take them all at once.
      if (this.waiting.size > 0 && !this.isClosed) this.receive();
    });
    return watcher.on('error', this.onUnreachable);
  }

  receive(): number {
    return this.options.batches.receive(this);
  }

  onPacket(packet: Uint8Array, length: number): void {
    this.options.events.onPacket(this, packet, length);
  }

  readonly onUnreachable = (): void => {
    this.options.events.onUnreachable(this);
  };

  /** Queries that wait for an answer. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** Reserves an id that no other open query of this socket has. */
  reserve(entry: InFlight): number {
    const { ids } = this.options;
    let id = ids.next();
    while (this.waiting.has(id)) id = ids.next();
    this.waiting.set(id, entry);
    this.usedIds[id >>> 3] |= 1 << (id & 7);
    return id;
  }

  /** Whether any query of this socket has had the id. Then a packet with it is late, or came twice. */
  hasUsed(id: number): boolean {
    return (this.usedIds[id >>> 3] & (1 << (id & 7))) !== 0;
  }

  find(id: number): InFlight | undefined {
    return this.waiting.get(id);
  }

  forget(id: number): void {
    this.waiting.delete(id);
  }

  /** A snapshot of all entries that wait here. */
  waitingEntries(): Set<InFlight> {
    return new Set(this.waiting.values());
  }

  send(packet: Uint8Array, length: number): void {
    this.sent++;
    this.options.batches.send(this, packet, length);
  }

  /** Whether queries wait to be sent, and the next one can leave together with them. */
  get isFilling(): boolean {
    return this.options.batches.isFilling(this);
  }

  close(): void {
    // Soon the descriptor may be that of another file.
    this.options.batches.leave(this);
    this.isClosed = true;
    (this.watcher ?? this.socket).close();
  }
}
