import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** The addresses of this machine, link-local ones with their zone (RFC 4007 §11). */
export function machineAddresses(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([zone, addresses = []]) =>
    addresses.map((one) => {
      const isLinkLocal = one.family === 'IPv6' && one.scopeid !== 0;
      return isLinkLocal ? `${one.address}%${zone}` : one.address;
    }),
  );
}

/** Whether a listener on this address takes packets for any address: `0.0.0.0` or `::`. */
export function isWildcard(host: string): boolean {
  return !/[1-9a-f]/i.test(host);
}

/** Whether packets for this address reach a listener on this wildcard address. */
export function takes(wildcard: string, ipv6Only: boolean, address: string): boolean {
  if (isIPv4(wildcard)) return isIPv4(address);
  return isIPv6(address) || !ipv6Only;
}
