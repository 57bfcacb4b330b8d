import { isIPv6 } from 'node:net';
import { addressFamily } from '../parse-cidrs.js';
import { bounded, VariableFault } from './variable.js';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** How a server proves over TLS who it is: by a name in its certificate, or by its public key. */
export type TlsPeer =
  | { readonly name: string }
  /** SHA-256 of its SubjectPublicKeyInfo, in base64 (RFC 7858 §4.2). */
  | { readonly pin: string };

/** A resolver to ask: over TLS where `tls` says how it proves who it is, else in clear text. */
export interface UpstreamEndpoint extends Endpoint {
  readonly tls?: TlsPeer;
}

const TLS_PORT = 853;
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?';
/** The last label begins with a letter, so that it is not an address. RE2 allows no bound around a group this large. */
const NAME = `(?:${LABEL}\\.)*[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;
export const PIN_KIND = 'sha256/';
export const PIN_PATTERN = `${PIN_KIND}[A-Za-z0-9+/]{43}=`;
/** What follows `#` in an upstream that is asked over TLS. */
export const TLS_PEER_PATTERN = `(?:${PIN_PATTERN}|${NAME})`;

const TLS_UPSTREAM = new RegExp(`^tls://([^#]+)#(${TLS_PEER_PATTERN})$`);

/** `ADDRESS[:PORT]` or `tls://ADDRESS[:PORT]#PEER`. */
export function parseUpstream(item: string, defaultPort: number): UpstreamEndpoint {
  if (!item.startsWith('tls://')) return parseEndpoint(item, defaultPort);
  const [, place, peer] = TLS_UPSTREAM.exec(item) ?? [];
  if (place === undefined) throw new VariableFault(`"${bounded(item)}" is not one`);
  const tls = peer.startsWith(PIN_KIND) ? { pin: peer.slice(PIN_KIND.length) } : { name: peer };
  return { ...parseEndpoint(place, TLS_PORT), tls };
}

/** As `parseUpstream` reads it. */
export function showUpstream({ address, port, tls }: UpstreamEndpoint): string {
  const host = isIPv6(address) ? `[${address}]` : address;
  if (tls === undefined) return `${host}:${port}`;
  return `tls://${host}:${port}#${'name' in tls ? tls.name : `${PIN_KIND}${tls.pin}`}`;
}

function parseEndpoint(item: string, defaultPort: number): Endpoint {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(item);
  const host = isIPv6(item) ? item : (match?.[1] ?? match?.[2] ?? '');
  const bracketed = match?.[1] !== undefined;
  if (addressFamily(host) === 0 || (bracketed && !isIPv6(host))) {
    throw new VariableFault(`"${bounded(item)}" is not one`);
  }
  const portText = isIPv6(item) ? undefined : match?.[3];
  const port = portText === undefined ? defaultPort : Number(portText);
  if (port < 1 || port > 65535) throw new VariableFault();
  return { address: host, port };
}
