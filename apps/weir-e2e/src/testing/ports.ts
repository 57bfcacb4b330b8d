export interface StackPorts {
  readonly management: number;
  readonly feed: number;
  /** DNS port of the first of two resolvers. A third one may use the port after them. */
  readonly dns: number;
  readonly blockPage: number;
  /** First ops port. A stack uses this port, + 10, + 11, + 20 and + 30. */
  readonly ops: number;
}

/** From 1 to the number of workers: vitest gives it to one process at a time. */
const worker = Number(process.env['VITEST_POOL_ID']);

/**
 * Ports for this process only, below 15,000: below the kernel's range for outgoing connections, and below those that
 * integration tests find at the same time. Not 10,080, to which `fetch` makes no connection.
 */
const base = 10_100 + ((process.pid % 12) * 4 + (worker % 4)) * 100;

const portsFrom = (first: number): StackPorts => ({
  management: first,
  feed: first + 1,
  dns: first + 2,
  blockPage: first + 5,
  ops: first + 10,
});

export const PORTS = portsFrom(base);

/** For a second stack at the same time. */
export const OTHER_PORTS = portsFrom(base + 50);

/** The variables of a stack on these ports. */
export function portVariables(ports: StackPorts): Record<string, string> {
  return {
    MANAGEMENT_PORT: String(ports.management),
    FEED_PORT: String(ports.feed),
    DNS_PORT: String(ports.dns),
    BLOCK_PAGE_PORT: String(ports.blockPage),
    OPS_PORT: String(ports.ops),
  };
}
