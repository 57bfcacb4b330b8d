import { domainOrNull } from '@weir/dns-name';
import {
  defineVariable,
  text,
  type Variable,
  VariableFault,
  type VariableOptions,
} from '@weir/ops';
import { hostname } from 'node:os';

export function domain(options: VariableOptions): Variable<string> {
  const parse = (name: string): string => {
    const normal = domainOrNull(name);
    if (normal === null) throw new VariableFault();
    return normal;
  };
  return { ...text('a domain name such as dns.example.net', options), parse };
}

export function domainList(options: VariableOptions): Variable<readonly string[]> {
  const one = domain(options);
  const parse = (value: string): readonly string[] =>
    value.split(',').map((name) => one.parse(name.trim()));
  const valueSchema = { type: 'array', items: one.valueSchema, minItems: 1 };
  return defineVariable(options, 'comma-separated domain names', valueSchema, parse);
}

/** Where a receiver listens, as `net.connect` takes it. */
export type ReceiverEndpoint =
  | { readonly path: string }
  | { readonly host: string; readonly port: number };

const UNIX_RECEIVER = /^unix:(\/\S+)$/;
const TCP_RECEIVER = /^tcp:\/\/(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/;
const MAX_PORT = 65_535;

export function receiver(options: VariableOptions): Variable<ReceiverEndpoint> {
  const parse = (value: string): ReceiverEndpoint => {
    const path = UNIX_RECEIVER.exec(value)?.[1];
    if (path !== undefined) return { path };
    const [, ipv6, host = ipv6, digits] = TCP_RECEIVER.exec(value) ?? [];
    const port = Number(digits);
    if (host === undefined || !(port >= 1 && port <= MAX_PORT)) throw new VariableFault();
    return { host, port };
  };
  const valueSchema = { type: 'string', pattern: '^(?:unix:/|tcp://)\\S+$' };
  return defineVariable(options, 'unix:/path or tcp://host:port', valueSchema, parse);
}

/** @param read what the value stands for */
export function printable(
  longest: number,
  options: VariableOptions,
  read = (value: string): string => value,
): Variable<string> {
  const parse = (value: string): string => {
    const name = read(value);
    if (name.length > longest || !/^[!-~]+$/.test(name)) throw new VariableFault();
    return name;
  };
  return { ...text(`1 to ${longest} printable ASCII characters without spaces`, options), parse };
}

/** The word `hostname` stands for the name of the machine. */
export const serverId = (options: VariableOptions): Variable<string> =>
  printable(63, options, (value) => (value === 'hostname' ? hostname() : value));
