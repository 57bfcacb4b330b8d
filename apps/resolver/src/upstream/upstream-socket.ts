import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Endpoint } from '@weir/ops';
import type { InFlight, QuerySocket, QuerySocketEvents } from './in-flight.js';
import type { RandomIds } from './random-ids.js';
import type { BatchedSocket, UpstreamBatches } from './upstream-batches.js';

const RECEIVE_BUFFER_BYTES = 1024 * 1024;
const IDS = 65_536;

export interface UpstreamSocketOptions {
  /** Index of the upstream. */
  readonly upstream: number;
  readonly endpoint: Endpoint;
  readonly ids: RandomIds;
  readonly events: QuerySocketEvents;
  readonly batches: UpstreamBatches;
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
  /** The address of this machine from which it sends. */
  localAddress = '';
  private readonly waiting = new Map<number, InFlight>();
  private peer = '';

  private constructor(
    private readonly options: UpstreamSocketOptions,
    private readonly socket: Socket,
    readonly fd: number,
  ) {
    this.upstream = options.upstream;
  }

  /** @throws the error of opening or connecting it, such as ENETUNREACH. */
  static async open(options: UpstreamSocketOptions): Promise<UpstreamSocket> {
    const { endpoint, batches } = options;
    const raw = createSocket(isIPv6(endpoint.address) ? 'udp6' : 'udp4');
    try {
      const socket = new UpstreamSocket(options, raw, openDescriptor(batches, raw));
      await connect(raw, endpoint);
      socket.listen();
      return socket;
    } catch (error) {
      raw.close();
      throw error;
    }
  }

  private listen(): void {
    const { socket: raw } = this;
    const { batches } = this.options;
    this.peer = raw.remoteAddress().address;
    this.localAddress = raw.address().address;
    raw.on('message', (packet, from) => {
      // Between bind and connect the kernel delivers packets from anyone.
      if (this.isPeer(from)) this.onPacket(packet, packet.length);
      // More answers may have arrived, and it costs less to take them all at once.
      if (this.waiting.size > 0 && !this.isClosed) batches.receive(this);
    });
    raw.on('error', this.onUnreachable);
    batches.join(this);
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
    this.socket.close();
  }

  private isPeer(from: RemoteInfo): boolean {
    return from.port === this.options.endpoint.port && from.address === this.peer;
  }
}

/** Opens a socket whose descriptor we know, and gives it to `raw`. */
function openDescriptor(batches: UpstreamBatches, raw: Socket): number {
  const opened = batches.open(RECEIVE_BUFFER_BYTES);
  try {
    raw.bind({ fd: opened.fd });
  } catch (error) {
    opened.close();
    throw error;
  }
  opened.keepPort();
  return opened.fd;
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
