/** The upstream resolvers: two addresses with the same zones, healthy ones and others (`ZONES`), UDP and TCP. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { helperArgument, tellMain } from '../services/helper.js';
import { answerFor } from './answers.js';
import { frame, readFrames, SERVER } from './target.js';

const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

function reply(query: Buffer, isTcp: boolean, send: (packet: Buffer) => unknown): void {
  const answer = answerFor(query, isTcp);
  if (answer === null) return;
  if (answer.afterMs === 0) send(answer.packet);
  else setTimeout(send, answer.afterMs, answer.packet);
}

async function listen(port: number): Promise<void> {
  const udp = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
  udp.on('message', (query, { port: from, address }) =>
    reply(query, false, (packet) => udp.send(packet, from, address)),
  );
  const tcp = createServer((connection) => {
    connection.on('error', () => connection.destroy());
    readFrames(connection, (query) =>
      reply(query, true, (packet) => connection.write(frame(packet))),
    );
  });
  await once(udp.bind(port, SERVER), 'listening');
  await once(tcp.listen(port, SERVER), 'listening');
}

for (const port of helperArgument() as readonly number[]) await listen(port);
tellMain('ready');
