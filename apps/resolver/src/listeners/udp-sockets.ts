import type { AddressInfo } from 'node:net';
import { countKernelDrops } from './kernel-drops.js';
import type { ListenerLog } from './listener-log.js';
import { isWildcard, machineAddresses, takes } from './machine-addresses.js';
import type { UdpHost } from './udp-host.js';
import { UdpListener, type UdpListenerOptions } from './udp-listener.js';

/** Sockets of one wildcard address, besides its own. */
const MAX_ADDRESSES = 64;
const LOOK_INTERVAL_MS = 5_000;

export interface UdpSocketsOptions extends Omit<UdpListenerOptions, 'sharesPort'> {
  readonly log: ListenerLog;
  /** Default: those of `networkInterfaces`. */
  readonly machineAddresses?: () => readonly string[];
  /** Interval between looks for new and removed addresses of the machine. */
  readonly lookIntervalMs?: number;
}

/**
 * UDP on one host: one socket. For `0.0.0.0` and `::`, each address of the machine has a socket of its own besides, so
 * that an answer comes from the address that was asked. Node does not tell which address that was (IP_PKTINFO), and the
 * kernel would choose another one. The kernel gives a packet to the socket of its address; the wildcard socket gets
 * those for all other addresses, such as 127.0.0.2.
 */
export class UdpSockets implements UdpHost {
  private readonly main: UdpListener;
  /** By address of the machine. */
  private readonly others = new Map<string, UdpListener>();
  /** Addresses with a socket that the last look did not find. */
  private missing: readonly string[] = [];
  /** Addresses whose socket could not be opened; each is logged once. */
  private readonly failed = new Set<string>();
  private isOverLimit = false;
  private isDraining = false;
  private timer: NodeJS.Timeout | undefined;
  /** Kernel drops of sockets that are closed. */
  pastDrops = 0;

  constructor(private readonly options: UdpSocketsOptions) {
    this.main = new UdpListener({ ...options, sharesPort: isWildcard(options.host) });
  }

  /** @throws the bind error (`EADDRINUSE` …). */
  async start(port: number): Promise<AddressInfo> {
    if (!isWildcard(this.options.host)) return this.main.start(port);
    await this.refuseTakenPort(port);
    const bound = await this.main.start(port);
    await this.look(bound.port);
    this.lookAgainLater(bound.port);
    return bound;
  }

  /** Accepts no more queries; answers still go out. */
  drain(): void {
    this.isDraining = true;
    clearTimeout(this.timer);
    for (const socket of this.all()) socket.drain();
  }

  /** Closes when the last answer is out. */
  async stop(): Promise<void> {
    this.drain();
    await Promise.all(this.all().map((socket) => socket.stop()));
  }

  /** Closes at once. */
  abort(): void {
    this.drain();
    for (const socket of this.all()) socket.abort();
  }

  /** Size of the receive buffer of each socket, by address. */
  get receiveBuffers(): Record<string, number> {
    return Object.fromEntries(
      this.all().map(({ host, receiveBufferBytes }) => [host, receiveBufferBytes]),
    );
  }

  /** See `inodeOf`. */
  get inodes(): string[] {
    return this.all()
      .map(({ inode }) => inode)
      .filter((inode) => inode !== undefined);
  }

  private all(): UdpListener[] {
    return [this.main, ...this.others.values()];
  }

  /**
   * Sockets that share a port, as those here, would hide that another process has it too. So it is bound once without.
   */
  private async refuseTakenPort(port: number): Promise<void> {
    const alone = new UdpListener({ ...this.options, sharesPort: false });
    try {
      await alone.start(port);
    } finally {
      alone.abort();
    }
  }

  private lookAgainLater(port: number): void {
    if (this.isDraining) return;
    this.timer = setTimeout(() => {
      void this.look(port)
        .catch(this.options.onError)
        .finally(() => {
          this.lookAgainLater(port);
        });
    }, this.options.lookIntervalMs ?? LOOK_INTERVAL_MS);
  }

  /** Opens sockets for new addresses of the machine, and closes those of addresses that are gone. */
  private async look(port: number): Promise<void> {
    const addresses = this.wanted();
    const missing = [...this.others.keys()].filter((address) => !addresses.includes(address));
    // Not at the first look: it may still have to send answers.
    for (const address of missing) if (this.missing.includes(address)) this.close(address);
    this.missing = missing;
    for (const address of this.failed) {
      if (!addresses.includes(address)) this.failed.delete(address);
    }
    for (const address of addresses) {
      if (!this.others.has(address) && !this.isDraining) await this.open(address, port);
    }
  }

  private wanted(): readonly string[] {
    const { host, ipv6Only = false, log } = this.options;
    const ofMachine = (this.options.machineAddresses ?? machineAddresses)();
    const addresses = ofMachine.filter((address) => takes(host, ipv6Only, address));
    const isOverLimit = addresses.length > MAX_ADDRESSES;
    if (isOverLimit && !this.isOverLimit) {
      const details = { host, addresses: addresses.length, maxAddresses: MAX_ADDRESSES };
      log.warn(details, 'too many addresses: some UDP answers may come from another address');
    }
    this.isOverLimit = isOverLimit;
    return addresses.slice(0, MAX_ADDRESSES);
  }

  private async open(address: string, port: number): Promise<void> {
    const { log } = this.options;
    const socket = new UdpListener({ ...this.options, host: address, sharesPort: true });
    try {
      await socket.start(port);
    } catch (error) {
      // The wildcard socket gets its packets until a later look succeeds.
      socket.abort();
      if (!this.failed.has(address)) {
        log.warn({ address, reason: (error as Error).message }, 'no UDP socket for this address');
      }
      this.failed.add(address);
      return;
    }
    if (this.isDraining) return socket.abort();
    this.failed.delete(address);
    this.others.set(address, socket);
    if (this.timer !== undefined) log.info({ address }, 'UDP socket for a new address');
  }

  private close(address: string): void {
    const socket = this.others.get(address);
    if (socket === undefined) return;
    this.others.delete(address);
    if (socket.inode !== undefined) this.pastDrops += countKernelDrops(new Set([socket.inode]));
    socket.abort();
    this.options.log.info({ address }, 'UDP socket closed: the address is gone');
  }
}
