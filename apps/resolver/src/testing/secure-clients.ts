import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from 'node:http2';
import { request } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { askTcp } from './client.js';
import { frame } from './upstream-server.js';

const HOST = '127.0.0.1';
/** The certificates of tests are of no authority. */
const ANY_CERTIFICATE = { rejectUnauthorized: false } as const;

export interface SecurePorts {
  readonly tlsPort: number;
  readonly httpsPort: number;
}

export function openTls(port: number): TLSSocket {
  return connectTls({ host: HOST, port, ...ANY_CERTIFICATE });
}

export function openHttp2(port: number): ClientHttp2Session {
  return connectHttp2(`https://${HOST}:${port}`, ANY_CERTIFICATE);
}

/** Sends a query as a request over HTTP/2. */
export function postHttp2(session: ClientHttp2Session, packet: Uint8Array): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/dns-query',
    'content-type': 'application/dns-message',
  });
  stream.end(packet);
  return stream;
}

/** One query over a connection of its own. @returns the answer. @throws Error when there is none */
export type SecureQuery = (ports: SecurePorts, packet: Uint8Array) => Promise<Uint8Array>;

const askTls: SecureQuery = async ({ tlsPort: port }, packet) => {
  const server = { address: HOST, port };
  const [answer] = await askTcp(server, [frame(packet)], 1, { open: () => openTls(port) });
  return answer;
};

const askHttp1: SecureQuery = ({ httpsPort: port }, packet) =>
  new Promise((resolve, reject) => {
    const path = `/dns-query?dns=${Buffer.from(packet).toString('base64url')}`;
    request({ host: HOST, port, path, agent: false, ...ANY_CERTIFICATE }, (response) => {
      response.toArray().then((chunks) => {
        resolve(Buffer.concat(chunks as Buffer[]));
      }, reject);
    })
      .on('error', reject)
      .end();
  });

const askHttp2: SecureQuery = async ({ httpsPort }, packet) => {
  const session = openHttp2(httpsPort);
  // The request reports the failure of its session.
  session.on('error', () => undefined);
  try {
    return Buffer.concat((await postHttp2(session, packet).toArray()) as Buffer[]);
  } finally {
    session.destroy();
  }
};

/** DNS over TLS, and over HTTP/1.1 and HTTP/2. */
export const SECURE_QUERIES: readonly SecureQuery[] = [askTls, askHttp1, askHttp2];
