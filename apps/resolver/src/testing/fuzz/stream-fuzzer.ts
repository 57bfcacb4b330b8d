import { decodeMessage, encodeQuery } from '@weir/dns-wire/testing';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SECURE_QUERIES, type SecurePorts } from '../secure-clients.js';
import { type FuzzedStream, fuzzedStreams } from './streams.js';

const HOST = '127.0.0.1';
/** A client that reads on is gone after this time, if the server keeps the connection. */
const READING_MS = 30;
/** Longest time for the answer to a control query. */
const ANSWER_MS = 60_000;
const CONTROL = encodeQuery('control.blocked.example', 1, { udpBytes: 1232 });
const BLOCKED_EDE = 17;

/**
 * Sends streams, as a rule broken ones, to DNS over TLS and DNS over HTTPS. After each one the server must answer an
 * ordinary query over one of the three protocols, in turns.
 */
export async function fuzzStreams(ports: SecurePorts, seed: number, count: number): Promise<void> {
  for (const [i, stream] of fuzzedStreams(seed, count).entries()) {
    await send(ports, stream);
    const what = `after stream ${i} of seed ${seed}: ${stream.protocol ?? 'no TLS'} to ${stream.to}`;
    const answer = await inTime(SECURE_QUERIES[i % SECURE_QUERIES.length](ports, CONTROL), what);
    const { ede } = decodeMessage(answer);
    if (ede[0] !== BLOCKED_EDE) throw new Error(`a wrong answer ${what}`);
  }
}

async function send(ports: SecurePorts, stream: FuzzedStream): Promise<void> {
  const socket = await open(ports, stream);
  const closed = new Promise<void>((resolve) => socket.once('close', resolve));
  socket.resume();
  for (const piece of stream.pieces) {
    // The server may have closed the connection. That is its right.
    await new Promise<void>((resolve) => {
      socket.write(piece, () => {
        resolve();
      });
    });
  }
  if (stream.isPolite) {
    socket.end();
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, READING_MS))]);
  }
  socket.destroy();
  await closed;
}

async function open(ports: SecurePorts, { to, protocol }: FuzzedStream): Promise<Socket> {
  const port = to === 'tls' ? ports.tlsPort : ports.httpsPort;
  const socket =
    protocol === null
      ? connectTcp({ host: HOST, port, noDelay: true })
      : connectTls({ host: HOST, port, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  await new Promise((resolve, reject) => {
    socket.once(protocol === null ? 'connect' : 'secureConnect', resolve).once('error', reject);
  });
  socket.on('error', () => undefined);
  return socket;
}

async function inTime<T>(answer: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`no answer ${what}`));
  }, ANSWER_MS);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
