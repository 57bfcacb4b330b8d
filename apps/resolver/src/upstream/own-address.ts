import { ClientAddress } from '@weir/clients';
import type { Endpoint, UpstreamEndpoint } from '@weir/ops';
import { networkInterfaces } from 'node:os';

const UNSPECIFIED = ['4:0,0,0,0', '6:0,0,0,0'];

/** An address of this resolver, with its port for DNS in clear text and the one for DNS over TLS. */
export interface Listening extends Endpoint {
  readonly tlsPort?: number | undefined;
}

/**
 * The first upstream that is this resolver itself, which would be a loop.
 * @param machineAddresses all addresses of this machine, for a resolver that listens on `0.0.0.0` or `::`
 */
export function findOwnAddress(
  upstreams: readonly UpstreamEndpoint[],
  listening: Listening,
  machineAddresses: readonly string[],
): Endpoint | undefined {
  const host = normalForm(listening.address);
  const isWildcard = UNSPECIFIED.includes(host);
  const machine = new Set(machineAddresses.map(normalForm));
  const isOwn = (address: string): boolean => {
    const wanted = normalForm(address);
    // A packet to the unspecified address goes to this machine.
    if (wanted === host || UNSPECIFIED.includes(wanted)) return true;
    return isWildcard && (machine.has(wanted) || isLoopback(wanted));
  };
  return upstreams.find(({ address, port, tls }) => {
    const ownPort = tls === undefined ? listening.port : listening.tlsPort;
    return port === ownPort && isOwn(address);
  });
}

/** The same text for all notations of an address. */
function normalForm(address: string): string {
  const client = new ClientAddress();
  if (!client.set(address, 0)) throw new RangeError(`"${address}" is not an address`);
  return `${client.family}:${client.words.join()}`;
}

function isLoopback(normal: string): boolean {
  const [family, words = ''] = normal.split(':');
  if (family === '4') return Number(words.split(',')[0]) >>> 24 === 127;
  return words === '0,0,0,1';
}

/** The interfaces of this machine by name; none where a sandbox hides them, such as one without AF_NETLINK. */
export function machineInterfaces(read = networkInterfaces): ReturnType<typeof networkInterfaces> {
  try {
    return read();
  } catch {
    return {};
  }
}

/** The addresses of this machine, link-local ones with their zone (RFC 4007 §11). */
export function machineAddresses(): string[] {
  return Object.entries(machineInterfaces()).flatMap(([zone, addresses = []]) =>
    addresses.map((one) => {
      const isLinkLocal = one.family === 'IPv6' && one.scopeid !== 0;
      return isLinkLocal ? `${one.address}%${zone}` : one.address;
    }),
  );
}
