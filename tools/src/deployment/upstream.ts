import { createSocket, type Socket } from 'node:dgram';
import { answerQuery } from './dns-message.js';

/** The upstream gives this address for every name, so names that are not blocked have it. */
export const UPSTREAM_ADDRESS = '203.0.113.80';
const TTL_SECONDS = 60;

/** A DNS server that stands for the internet. */
export async function startUpstream(port: number): Promise<Socket> {
  const address = UPSTREAM_ADDRESS.split('.').map(Number);
  const socket = createSocket('udp4');
  socket.on('message', (query, sender) => {
    socket.send(answerQuery(query, address, TTL_SECONDS), sender.port, sender.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject).bind(port, '127.0.0.1', resolve);
  });
  return socket;
}
