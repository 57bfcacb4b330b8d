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
