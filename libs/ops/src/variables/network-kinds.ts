import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { CidrSet } from '../cidr-set.js';
import { InvalidCidrError, parseCidrs } from '../parse-cidrs.js';
import { parseUpstream, type UpstreamEndpoint } from './endpoint.js';
import * as valueSchemas from './value-schemas.js';
import {
  bounded,
  defineVariable,
  splitList,
  type Variable,
  VariableFault,
  type VariableOptions,
} from './variable.js';

/**
 * The ports to which `fetch` makes no connection, because servers of other protocols listen there (Fetch Standard,
 * "port blocking").
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

/** Whether `fetch` refuses to connect to this port. */
export function isBlockedPort(port: number): boolean {
  return BLOCKED_PORTS.has(port);
}

/** A URL with one of `protocols` (`http`, `redis` …). May hold a password, so it is never shown. */
export function url(protocols: readonly string[], options: VariableOptions): Variable<string> {
  const allowed = `a URL that begins with ${protocols.map((one) => `${one}://`).join(' or ')}`;
  const parse = (value: string): string => {
    const parsed = URL.canParse(value) ? new URL(value) : null;
    if (!parsed?.host || !protocols.includes(parsed.protocol.slice(0, -1)))
      throw new VariableFault();
    if (parsed.protocol.startsWith('http') && isBlockedPort(Number(parsed.port))) {
      throw new VariableFault(`fetch makes no connection to port ${parsed.port}`);
    }
    return value;
  };
  return defineVariable(options, allowed, valueSchemas.url(protocols), parse, true);
}

/** Comma-separated networks in CIDR form; a bare address is a network of one. */
export function cidrList(options: VariableOptions): Variable<CidrSet> {
  const allowed = 'comma-separated networks such as 192.0.2.0/24 or 2001:db8::/32';
  return defineVariable(options, allowed, valueSchemas.listOf(valueSchemas.NETWORK), (value) => {
    try {
      return parseCidrs(splitList(value));
    } catch (error) {
      if (!(error instanceof InvalidCidrError)) throw error;
      throw new VariableFault(error.message);
    }
  });
}

/** An address to listen on. */
export function address(options: VariableOptions): Variable<string> {
  return defineVariable(options, 'an IPv4 or IPv6 address', valueSchemas.ADDRESS, (value) => {
    if (isIP(value) === 0 || value.includes('%')) throw new VariableFault();
    return value;
  });
}

/** Comma-separated addresses to listen on, each once, at most `most`. */
export function listenAddressList(
  most: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `at most ${most} comma-separated IPv4 or IPv6 addresses`;
  const schema = valueSchemas.listOf(valueSchemas.ADDRESS, most);
  return defineVariable(options, allowed, schema, (value) => {
    const items = splitList(value);
    if (items.length > most) throw new VariableFault();
    checkListenAddresses(items);
    return items;
  });
}

/** Lists of addresses to listen on with a semicolon between them, each address once, at most `most` in a list. */
export function listenAddressGroups(
  most: number,
  options: VariableOptions,
): Variable<readonly (readonly string[])[]> {
  const allowed = `at most ${most} comma-separated IPv4 or IPv6 addresses, or several such lists with ; between them`;
  return defineVariable(options, allowed, valueSchemas.TEXT, (value) => {
    const groups = value.split(';').map(splitList);
    if (groups.some((group) => group.length > most)) throw new VariableFault();
    checkListenAddresses(groups.flat());
    return groups;
  });
}

function checkListenAddresses(items: readonly string[]): void {
  const bad = items.find((item) => isIP(item) === 0 || item.includes('%'));
  if (bad !== undefined) throw new VariableFault(`"${bounded(bad)}" is not one`);
  const twice = items.find((item, i) => items.indexOf(item) !== i);
  if (twice !== undefined) throw new VariableFault(`${twice} is there twice`);
}

/** Comma-separated addresses of one family. */
export function addressList(family: 4 | 6, options: VariableOptions): Variable<readonly string[]> {
  const valid = family === 4 ? isIPv4 : isIPv6;
  const allowed = `comma-separated IPv${family} addresses`;
  const schema = valueSchemas.listOf(family === 4 ? valueSchemas.IPV4 : valueSchemas.IPV6);
  return defineVariable(options, allowed, schema, (value) => {
    const items = splitList(value);
    const bad = items.find((item) => !valid(item) || item.includes('%'));
    if (bad !== undefined) throw new VariableFault(`"${bounded(bad)}" is not one`);
    return items;
  });
}

/** Comma-separated resolvers to ask, see `parseUpstream`. */
export function upstreamList(
  defaultPort: number,
  options: VariableOptions,
): Variable<readonly UpstreamEndpoint[]> {
  const examples = `192.0.2.1, 192.0.2.1:${defaultPort}, [2001:db8::1]:${defaultPort}`;
  const overTls =
    'tls://192.0.2.1#dns.example or tls://192.0.2.1:853#sha256/ and the pin in base64';
  const allowed = `comma-separated addresses such as ${examples}, ${overTls}`;
  return defineVariable(options, allowed, valueSchemas.listOf(valueSchemas.UPSTREAM), (value) =>
    splitList(value).map((item) => parseUpstream(item, defaultPort)),
  );
}
