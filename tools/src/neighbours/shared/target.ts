/** The resolver under attack, and the API behind it. */
export interface Target {
  readonly dnsPort: number;
  readonly tlsPort: number;
  readonly httpsPort: number;
  readonly managementPort: number;
  readonly managementToken: string;
  /** Makes the names of this run different from those of other runs. */
  readonly seed: number;
}

export const SERVER = '127.0.0.1';

/** The measured subscriber has the ports from `NEIGHBOUR_PORTS` on; an attacker has those below them. */
export const NEIGHBOUR = '127.0.1.1';
export const NEIGHBOUR_PORTS = 2_048;
export const ATTACKER = '127.0.2.1';
/** Subscribers that attack together. */
export const CROWD = Array.from({ length: 64 }, (_, i) => `127.0.3.${i + 1}`);
/** A subscriber who has a network, and some addresses of it. */
export const NETWORK = '127.0.4.0';
export const NETWORK_ADDRESSES = Array.from({ length: 64 }, (_, i) => `127.0.4.${i + 1}`);
/** Sources that are nobody's subscribers: they are refused. */
export const STRANGERS = Array.from({ length: 64 }, (_, i) => `127.9.0.${i}`);
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

/** Queries a second that one subscriber gets answers to. Above the rates of all attacks but `over-rate`. */
export const QUERY_RATE_LIMIT = 5_000;
/** Profiles of the neighbour, of the attackers, and of nobody. */
export const NEIGHBOUR_PROFILE = 1;
export const ATTACKER_PROFILE = 2;
export const OTHER_PROFILE = 3;
