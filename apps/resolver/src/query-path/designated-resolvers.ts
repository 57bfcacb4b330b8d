import { toWireName } from '@weir/dns-name';
import { toRdata } from '@weir/policy/answers';
import type { SentConfiguration } from '../configuration.js';

/** Keys of SvcParams, which must be in this order (RFC 9460 §14.3.2, RFC 9461 §5). */
const ALPN = 1;
const PORT = 3;
const IPV4_HINT = 4;
const IPV6_HINT = 6;
const DOH_PATH = 7;

const DOH_TEMPLATE = '/dns-query{?dns}';

/**
 * Rdata of the SVCB records that tell a client of this resolver over which encrypted transports it can go on (RFC 9462
 * §4). Empty when there is no name for them, or neither DNS over TLS nor DNS over HTTPS is on.
 */
export function designatedResolvers(configuration: SentConfiguration): Uint8Array[] {
  const { DNS_DESIGNATED_NAME: name, DNS_TLS_PORT: tlsPort } = configuration;
  if (name === undefined) return [];
  const { DNS_HTTPS_PORT: httpsPort } = configuration;
  const { DNS_DESIGNATED_TLS_PORT: publicTlsPort = tlsPort } = configuration;
  const { DNS_DESIGNATED_HTTPS_PORT: publicHttpsPort = httpsPort } = configuration;
  const hints = addressHints(configuration);
  const endpoints: Buffer[] = [];
  if (tlsPort !== undefined && publicTlsPort !== undefined) {
    endpoints.push(Buffer.concat([alpn('dot'), port(publicTlsPort), ...hints]));
  }
  if (httpsPort !== undefined && publicHttpsPort !== undefined) {
    const path = param(DOH_PATH, Buffer.from(DOH_TEMPLATE));
    endpoints.push(Buffer.concat([alpn('h2', 'http/1.1'), port(publicHttpsPort), ...hints, path]));
  }
  return endpoints.map((params, i) => Buffer.concat([uint16(i + 1), toWireName(name), params]));
}

/** None when clients do not reach the resolver at the addresses that it listens on, or these are not known. */
function addressHints({ DNS_HOST: hosts, ...others }: SentConfiguration): Buffer[] {
  if (others.DNS_PROXY_PROTOCOL_FROM !== undefined) return [];
  // The unspecified address says nothing.
  const { ipv4, ipv6 } = toRdata(hosts.filter((host) => /[1-9a-f]/i.test(host)));
  const hint = (key: number, addresses: Uint8Array): Buffer[] =>
    addresses.length === 0 ? [] : [param(key, addresses)];
  return [...hint(IPV4_HINT, ipv4), ...hint(IPV6_HINT, ipv6)];
}

function alpn(...names: string[]): Buffer {
  return param(ALPN, Buffer.concat(names.map((name) => Buffer.from(`\0${name}`)).map(withLength)));
}

/** Puts the length of a text into its first byte. */
function withLength(text: Buffer): Buffer {
  text[0] = text.length - 1;
  return text;
}

function port(number: number): Buffer {
  return param(PORT, uint16(number));
}

function param(key: number, value: Uint8Array): Buffer {
  return Buffer.concat([uint16(key), uint16(value.length), value]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
