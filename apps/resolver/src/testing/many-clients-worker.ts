/*
 * A worker thread that plays many clients of one resolver. A number from the parent makes one more socket send the
 * packet that often; `null` asks for the number of answers so far. It is a thread of its own, so that the event loop of
 * the resolver does only the work of the resolver.
 */
import { createSocket, type Socket } from 'node:dgram';
import { parentPort, workerData } from 'node:worker_threads';

export interface ManyClients {
  readonly address: string;
  readonly port: number;
  readonly packet: Uint8Array;
}

const { address, port, packet } = workerData as ManyClients;
const sockets: Socket[] = [];
let answers = 0;

function ask(queries: number): void {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.on('message', () => answers++);
  for (let i = 0; i < queries; i++) socket.send(packet, port, address);
}

parentPort?.on('message', (queries: number | null) => {
  if (queries === null) parentPort?.postMessage(answers);
  else ask(queries);
});
