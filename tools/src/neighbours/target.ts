import type { Duplex } from 'node:stream';

/** The resolver under attack. */
export interface Target {
  readonly dnsPort: number;
  readonly tlsPort: number;
  readonly httpsPort: number;
  /** Makes the names of this run different from those of other runs. */
  readonly seed: number;
}

export const SERVER = '127.0.0.1';

/** The measured subscriber has the ports from `NEIGHBOUR_PORTS` on; an attacker has those below them. */
export const NEIGHBOUR = '127.0.1.1';
export const NEIGHBOUR_PORTS = 2_048;
export const ATTACKER = '127.0.2.1';
const addresses = (prefix: string): readonly string[] =>
  Array.from({ length: 64 }, (_, i) => `${prefix}.${i + 1}`);
/** Subscribers that attack together. */
export const CROWD = addresses('127.0.3');
/** A subscriber who has a network, and some addresses of it. */
export const NETWORK = '127.0.4.0';
export const NETWORK_ADDRESSES = addresses('127.0.4');
/** Sources that are nobody's subscribers: they are refused. */
export const STRANGERS = addresses('127.9.0');
/** Who is served: the subscribers, and the load balancer `BALANCER_ADDRESS`. */
export const SERVED_CLIENTS = '127.0.0.0/16,127.7.0.1/32';

/** Zones of the upstream, by what happens to a query for a name in them. All other names have an address at once. */
export const ZONES = {
  /** No answer. */
  dead: 'dead.example.net',
  /** An address, after `SLOW_MS`. */
  slow: 'slow.example.net',
  /** 60 KB of TXT records, over TCP only. */
  huge: 'huge.example.net',
  /** NXDOMAIN. */
  absent: 'absent.example.net',
  /** A chain of more CNAME records than a resolver should follow. */
  chain: 'chain.example.net',
} as const;
export const SLOW_MS = 1_500;
/** The zone of the names that the neighbour asks, and that are not in the cache. */
export const HEALTHY_ZONE = 'fresh.example.net';
export const POPULAR_ZONE = 'popular.example.net';
export const BLOCKED_ZONE = 'blocked.example.com';
/** The address of a blocked name. */
export const BLOCK_PAGE = '192.0.2.80';

/** Milliseconds of a clock that all processes of this machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A message over TCP: it comes after its length in two bytes (RFC 1035 §4.2.2). */
export function frame(message: Buffer): Buffer {
  return Buffer.concat([Buffer.of(message.length >>> 8, message.length & 0xff), message]);
}

export function readFrames(stream: Duplex, take: (message: Buffer) => void): void {
  let received: Buffer = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      take(received.subarray(2, end));
      received = received.subarray(end);
    }
  });
}
