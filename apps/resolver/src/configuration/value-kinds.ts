import { DomainError, normaliseDomain } from '@weir/dns-name';
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
    try {
      return normaliseDomain(name);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw new VariableFault();
    }
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

export function resolverName(options: VariableOptions): Variable<string> {
  const parse = (value: string): string => {
    if (!/^[!-~]{1,100}$/.test(value)) throw new VariableFault();
    return value;
  };
  return { ...text('1 to 100 printable ASCII characters without spaces', options), parse };
}

export function serverId(options: VariableOptions): Variable<string> {
  const parse = (value: string): string => {
    const id = value === 'hostname' ? hostname() : value;
    if (!/^[!-~]{1,63}$/.test(id)) throw new VariableFault();
    return id;
  };
  return { ...text('1 to 63 printable ASCII characters without spaces', options), parse };
}
