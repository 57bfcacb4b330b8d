import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Endpoint } from '@weir/ops';
import type { InFlight } from './in-flight.js';
import type { QuerySocket, QuerySocketEvents } from './query-socket.js';
import type { RandomIds } from './random-ids.js';

const RECEIVE_BUFFER_BYTES = 1024 * 1024;
const IDS = 65_536;

/**
 * A UDP socket on a random port, connected to one upstream: the kernel delivers packets of that peer only. Keeps the
 * open queries by id.
 */
export class UpstreamSocket implements QuerySocket {
  /** Queries sent. A socket is replaced after a number of them, so that its port changes regularly. */
  sent = 0;
  /** Packets with an id that no query of this socket has had. */
  wrongIds = 0;
  /** One bit for each id: whether a query has had it. */
  private readonly usedIds = new Uint8Array(IDS / 8);
  /** The address of this machine from which it sends. */
  localAddress = '';
  private readonly waiting = new Map<number, InFlight>();
  private peer = '';

  private readonly onSent: (error: Error | null) => void;

  private constructor(
    /** Index of the upstream. */
    readonly upstream: number,
    private readonly socket: Socket,
    private readonly endpoint: Endpoint,
    private readonly ids: RandomIds,
    events: QuerySocketEvents,
  ) {
    this.onSent = (error) => {
      if (error !== null) events.onUnreachable(this);
    };
  }

  /** @throws the connect error, such as ENETUNREACH. */
  static async open(
    upstream: number,
    endpoint: Endpoint,
    ids: RandomIds,
    events: QuerySocketEvents,
  ): Promise<UpstreamSocket> {
    const raw = createSocket({
      type: isIPv6(endpoint.address) ? 'udp6' : 'udp4',
      recvBufferSize: RECEIVE_BUFFER_BYTES,
    });
    const socket = new UpstreamSocket(upstream, raw, endpoint, ids, events);
    try {
      await connect(raw, endpoint);
    } catch (error) {
      raw.close();
      throw error;
    }
    socket.peer = raw.remoteAddress().address;
    socket.localAddress = raw.address().address;
    raw.on('message', (packet, from) => {
      // Between bind and connect the kernel delivers packets from anyone.
      if (socket.isPeer(from)) events.onPacket(socket, packet);
    });
    raw.on('error', () => {
      events.onUnreachable(socket);
    });
    return socket;
  }

  /** Queries that wait for an answer. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** Reserves an id that no other open query of this socket has. */
  reserve(entry: InFlight): number {
    let id = this.ids.next();
    while (this.waiting.has(id)) id = this.ids.next();
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
    // Without a callback a pending ICMP error would swallow the packet without notice.
    this.socket.send(packet, 0, length, this.onSent);
  }

  close(): void {
    this.socket.close();
  }

  private isPeer(from: RemoteInfo): boolean {
    return from.port === this.endpoint.port && from.address === this.peer;
  }
}

function connect(socket: Socket, endpoint: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.connect(endpoint.port, endpoint.address, (error?: Error) => {
      socket.off('error', reject);
      if (error) reject(error);
      else resolve();
    });
  });
}
