import { addressFamily, type Endpoint } from '@weir/ops';

const DNS_PORT = 53;
/** The C library reads no more than this (resolv.conf(5)). */
const MAX_NAMESERVERS = 3;

/** The name servers of a `resolv.conf`. Addresses with a zone (`fe80::1%eth0`) are skipped. */
export function readNameservers(text: string): Endpoint[] {
  return text
    .split('\n')
    .map((line) => /^\s*nameserver\s+([^\s;#]+)/.exec(line)?.[1] ?? '')
    .filter((address) => addressFamily(address) !== 0)
    .slice(0, MAX_NAMESERVERS)
    .map((address) => ({ address, port: DNS_PORT }));
}
