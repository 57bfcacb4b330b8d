import type { CidrSet } from '../cidr-set.js';
import { addressFamily, InvalidCidrError, parseCidrs } from '../parse-cidrs.js';
import { parseUpstream, TLS_PEER_PATTERN, type UpstreamEndpoint } from './endpoint.js';
import {
  bounded,
  defineList,
  defineVariable,
  matchingSchema,
  splitList,
  type Variable,
  VariableFault,
  type VariableOptions,
} from './variable.js';

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
/** Matches the characters of an IPv6 address only. The process checks whether it is one. */
const IPV6 = '[0-9a-fA-F.]*:[0-9a-fA-F.]*:[0-9a-fA-F:.]*';
const ADDRESS = `(?:${IPV4}|${IPV6})`;
const ADDRESS_SCHEMA = matchingSchema(ADDRESS);
const NETWORK_SCHEMA = matchingSchema(`${ADDRESS}(?:/[0-9]{1,3})?`);
const PORT = ':[0-9]{1,5}';
const PLACE = `(?:${ADDRESS}|\\[${IPV6}\\](?:${PORT})?|${IPV4}${PORT})`;
const UPSTREAM_SCHEMA = matchingSchema(`(?:${PLACE}|tls://${PLACE}#${TLS_PEER_PATTERN})`);

/** The ports to which `fetch` makes no connection: those of other protocols (Fetch Standard, "port blocking"). */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

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
  const schema = matchingSchema(`(?:${protocols.join('|')})://\\S+`);
  return defineVariable(options, allowed, schema, parse, true);
}

/** Comma-separated networks in CIDR form; a bare address is a network of one. */
export function cidrList(options: VariableOptions): Variable<CidrSet> {
  const allowed = 'comma-separated networks such as 192.0.2.0/24 or 2001:db8::/32';
  const schema = { type: 'array', items: NETWORK_SCHEMA, minItems: 1 };
  return defineVariable(options, allowed, schema, (value) => {
    try {
      return parseCidrs(splitList(value));
    } catch (error) {
      if (!(error instanceof InvalidCidrError)) throw error;
      throw new VariableFault(error.message);
    }
  });
}

export function address(options: VariableOptions): Variable<string> {
  return defineVariable(options, 'an IPv4 or IPv6 address', ADDRESS_SCHEMA, (value) => {
    if (addressFamily(value) === 0) throw new VariableFault();
    return value;
  });
}

/** Comma-separated addresses to listen on, each once, at most `most`. */
export function listenAddressList(
  most: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `at most ${most} comma-separated IPv4 or IPv6 addresses`;
  const list = defineList(options, allowed, ADDRESS_SCHEMA, (item) => item, { most });
  return { ...list, parse: (value) => checkListenAddresses(list.parse(value)) };
}

/** Lists of addresses to listen on with a semicolon between them, each address once, at most `most` in a list. */
export function listenAddressGroups(
  most: number,
  options: VariableOptions,
): Variable<readonly (readonly string[])[]> {
  const allowed = `at most ${most} comma-separated IPv4 or IPv6 addresses, or several such lists with ; between them`;
  return defineVariable(options, allowed, { type: 'string', minLength: 1 }, (value) => {
    const groups = value.split(';').map(splitList);
    if (groups.some((group) => group.length > most)) throw new VariableFault();
    checkListenAddresses(groups.flat());
    return groups;
  });
}

const wildcardOf = (item: string): string => (addressFamily(item) === 4 ? '0.0.0.0' : '::');

/** @returns the addresses, each of which is there once, and not in the wildcard address of its family too */
function checkListenAddresses(items: readonly string[]): readonly string[] {
  const bad = items.find((item) => addressFamily(item) === 0);
  if (bad !== undefined) throw new VariableFault(`"${bounded(bad)}" is not one`);
  const twice = items.find((item, i) => items.indexOf(item) !== i);
  if (twice !== undefined) throw new VariableFault(`${twice} is there twice`);
  const covered = items.find(
    (item) => item !== wildcardOf(item) && items.includes(wildcardOf(item)),
  );
  if (covered !== undefined) throw new VariableFault(`${wildcardOf(covered)} includes ${covered}`);
  return items;
}

export function addressList(family: 4 | 6, options: VariableOptions): Variable<readonly string[]> {
  const allowed = `comma-separated IPv${family} addresses`;
  const schema = matchingSchema(family === 4 ? IPV4 : IPV6);
  return defineList(options, allowed, schema, (item) => {
    if (addressFamily(item) !== family) throw new VariableFault(`"${bounded(item)}" is not one`);
    return item;
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
  return defineList(options, allowed, UPSTREAM_SCHEMA, (item) => parseUpstream(item, defaultPort));
}
