import { isIP, isIPv4, isIPv6 } from 'node:net';
import { CidrSet, InvalidCidrError } from './cidr-set.js';
import { parseUpstream, type UpstreamEndpoint } from './endpoint.js';
import { type ValueSchema, type Variable, VariableFault } from './variable.js';
import * as valueSchemas from './value-schemas.js';

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Options of every kind of variable. */
export interface VariableOptions {
  readonly description: string;
  readonly default?: string;
}

function variable<T>(
  options: VariableOptions,
  allowed: string,
  valueSchema: ValueSchema,
  parse: (text: string) => T,
  secret = false,
): Variable<T> {
  const { description, default: defaultText } = options;
  return { description, default: defaultText, allowed, secret, valueSchema, parse };
}

/** A whole number from `lowest` to `highest`. */
export function integer(
  lowest: number,
  highest: number,
  options: VariableOptions,
): Variable<number> {
  const allowed = `a whole number from ${lowest} to ${highest}`;
  return variable(options, allowed, valueSchemas.integer(lowest, highest), (text) =>
    parseInteger(text, lowest, highest),
  );
}

/** A decimal number from `lowest` to `highest`. */
export function decimal(
  lowest: number,
  highest: number,
  options: VariableOptions,
): Variable<number> {
  const allowed = `a number from ${lowest} to ${highest}`;
  return variable(options, allowed, valueSchemas.decimal(lowest, highest), (text) => {
    const parsed = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
    if (!(parsed >= lowest && parsed <= highest)) throw new VariableFault();
    return parsed;
  });
}

/** A port to listen on. Unless `lowest` excludes it, 0 is allowed and means any free port. */
export function port(
  options: VariableOptions & { readonly lowest?: number; readonly highest?: number },
): Variable<number> {
  const { lowest = 0, highest = 65535 } = options;
  const allowed = `a port number from ${lowest} to ${highest}`;
  return variable(options, allowed, valueSchemas.integer(lowest, highest), (text) =>
    parseInteger(text, lowest, highest),
  );
}

/** Any text, unchanged. */
export function text(allowed: string, options: VariableOptions): Variable<string> {
  return variable(options, allowed, valueSchemas.TEXT, (value) => value);
}

/** A text that is never shown, of at least `shortest` characters. */
export function secret(shortest: number, options: VariableOptions): Variable<string> {
  const parse = (value: string): string => parseSecret(value, shortest);
  const allowed = `a secret of at least ${shortest} characters without spaces`;
  return variable(options, allowed, valueSchemas.secret(shortest), parse, true);
}

/** Comma-separated secrets of at least `shortest` characters each. */
export function secretList(
  shortest: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `comma-separated secrets of at least ${shortest} characters without spaces`;
  const parse = (value: string): string[] =>
    splitList(value).map((item) => parseSecret(item, shortest));
  const schema = valueSchemas.listOf(valueSchemas.listedSecret(shortest));
  return variable(options, allowed, schema, parse, true);
}

/** A secret of exactly `bytes` bytes in hexadecimal. */
export function hexKey(bytes: number, options: VariableOptions): Variable<string> {
  const parse = (value: string): string => parseHex(value, bytes);
  const allowed = `${bytes * 2} hexadecimal digits`;
  return variable(options, allowed, valueSchemas.hex(bytes), parse, true);
}

/** Comma-separated secrets of exactly `bytes` bytes each in hexadecimal, at most `most`. */
export function hexKeyList(
  bytes: number,
  most: number,
  options: VariableOptions,
): Variable<readonly string[]> {
  const allowed = `at most ${most} comma-separated secrets of ${bytes * 2} hexadecimal digits`;
  const parse = (value: string): string[] => {
    const items = splitList(value);
    if (items.length > most) throw new VariableFault();
    return items.map((item) => parseHex(item, bytes));
  };
  const schema = valueSchemas.listOf(valueSchemas.hex(bytes), most);
  return variable(options, allowed, schema, parse, true);
}

/** `true` or `false`. */
export function boolean(options: VariableOptions): Variable<boolean> {
  return variable(options, 'true or false', valueSchemas.BOOLEAN, (value) => {
    if (value !== 'true' && value !== 'false') throw new VariableFault();
    return value === 'true';
  });
}

/** One of `choices`. */
export function choice<const T extends string>(
  choices: readonly T[],
  options: VariableOptions,
): Variable<T> {
  const allowed = `one of ${choices.join(', ')}`;
  return variable(options, allowed, { enum: choices }, (value) => {
    const found = choices.find((one) => one === value);
    if (found === undefined) throw new VariableFault();
    return found;
  });
}

/** A URL with one of `protocols` (`http`, `redis` …). May hold a password, so it is never shown. */
export function url(protocols: readonly string[], options: VariableOptions): Variable<string> {
  const allowed = `a URL that begins with ${protocols.map((one) => `${one}://`).join(' or ')}`;
  const parse = (value: string): string => {
    const parsed = URL.canParse(value) ? new URL(value) : null;
    if (!parsed?.host || !protocols.includes(parsed.protocol.slice(0, -1)))
      throw new VariableFault();
    return value;
  };
  return variable(options, allowed, valueSchemas.url(protocols), parse, true);
}

/** Comma-separated networks in CIDR form; a bare address is a network of one. */
export function cidrList(options: VariableOptions): Variable<CidrSet> {
  const allowed = 'comma-separated networks such as 192.0.2.0/24 or 2001:db8::/32';
  return variable(options, allowed, valueSchemas.listOf(valueSchemas.NETWORK), (value) => {
    try {
      return CidrSet.parse(splitList(value));
    } catch (error) {
      if (!(error instanceof InvalidCidrError)) throw error;
      throw new VariableFault(error.message);
    }
  });
}

/** An address to listen on. */
export function address(options: VariableOptions): Variable<string> {
  return variable(options, 'an IPv4 or IPv6 address', valueSchemas.ADDRESS, (value) => {
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
  return variable(options, allowed, schema, (value) => {
    const items = splitList(value);
    if (items.length > most) throw new VariableFault();
    const bad = items.find((item) => isIP(item) === 0 || item.includes('%'));
    if (bad !== undefined) throw new VariableFault(`"${bounded(bad)}" is not one`);
    const twice = items.find((item, i) => items.indexOf(item) !== i);
    if (twice !== undefined) throw new VariableFault(`${twice} is there twice`);
    return items;
  });
}

/** Comma-separated addresses of one family. */
export function addressList(family: 4 | 6, options: VariableOptions): Variable<readonly string[]> {
  const valid = family === 4 ? isIPv4 : isIPv6;
  const allowed = `comma-separated IPv${family} addresses`;
  const schema = valueSchemas.listOf(family === 4 ? valueSchemas.IPV4 : valueSchemas.IPV6);
  return variable(options, allowed, schema, (value) => {
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
  return variable(options, allowed, valueSchemas.listOf(valueSchemas.UPSTREAM), (value) =>
    splitList(value).map((item) => parseUpstream(item, defaultPort)),
  );
}

/** A size in bytes: digits, or digits with kb, mb or gb (1024 each). */
export function byteSize(options: VariableOptions): Variable<number> {
  const allowed = 'a size such as 512kb, 8mb or a number of bytes';
  return variable(options, allowed, valueSchemas.BYTE_SIZE, (value) => {
    const match = /^(\d{1,12})(kb|mb|gb|b)?$/i.exec(value);
    if (!match) throw new VariableFault();
    const unit = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }[(match[2] ?? 'b').toLowerCase()];
    return Number(match[1]) * (unit ?? 1);
  });
}

/** A point in time (RFC 3339). */
export function time(options: VariableOptions): Variable<Date> {
  const allowed = 'a time such as 2026-12-24T18:00:00Z';
  return variable(options, allowed, valueSchemas.TEXT, (value) => {
    const parsed = TIME.test(value) ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(parsed)) throw new VariableFault();
    return new Date(parsed);
  });
}

/** An IANA time zone. */
export function timeZone(options: VariableOptions): Variable<string> {
  const allowed = 'an IANA time zone such as UTC or Europe/London';
  return variable(options, allowed, valueSchemas.TIME_ZONE, (value) => {
    if (!/^[A-Za-z]/.test(value)) throw new VariableFault();
    try {
      return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
    } catch (error) {
      if (error instanceof RangeError) throw new VariableFault();
      throw error;
    }
  });
}

/** A JSON text that `read` converts. `read` throws VariableFault when the value is not allowed. */
export function json<T>(
  allowed: string,
  read: (value: unknown) => T,
  options: VariableOptions & { readonly valueSchema?: ValueSchema },
): Variable<T> {
  return variable(options, allowed, options.valueSchema ?? {}, (value) => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(value);
    } catch {
      throw new VariableFault('it is not JSON');
    }
    return read(parsed);
  });
}

function parseInteger(value: string, lowest: number, highest: number): number {
  const parsed = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(parsed >= lowest && parsed <= highest)) throw new VariableFault();
  return parsed;
}

function parseHex(value: string, bytes: number): string {
  if (value.length !== bytes * 2 || !/^[0-9a-f]+$/i.test(value)) throw new VariableFault();
  return value.toLowerCase();
}

function parseSecret(value: string, shortest: number): string {
  if (value.length < shortest || /\s/.test(value)) throw new VariableFault();
  return value;
}

function splitList(value: string): string[] {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new VariableFault('an item is empty');
  return items;
}

function bounded(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value;
}
