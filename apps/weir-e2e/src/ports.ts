export interface StackPorts {
  readonly management: number;
  readonly feed: number;
  /** Of the first of two resolvers; a third may have the one behind them. */
  readonly dns: number;
  readonly blockPage: number;
  /** A stack takes this, + 10 and + 11, + 20 and + 30. */
  readonly ops: number;
}

/** Of this process alone, below the range that the kernel gives out. */
const base = 20_000 + (process.pid % 120) * 100;

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
