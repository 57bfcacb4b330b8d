/** The upstream resolvers: two addresses with the same zones, healthy ones and others (`ZONES`), UDP and TCP. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { answerFor } from './answers.js';
import { frame, helperArgument, readFrames, SERVER, SLOW_MS, tellMain } from './target.js';

const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

async function listen(port: number): Promise<void> {
  const udp = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
  udp.on('message', (query, { port: from, address }) => {
    const answer = answerFor(query);
    const send = (packet: Buffer): void => udp.send(packet, from, address);
    if (answer.kind === 'now') send(answer.packet);
    else if (answer.kind === 'late') setTimeout(send, SLOW_MS, answer.packet);
    else if (answer.kind === 'tcp only') send(answer.truncated);
  });
  const tcp = createServer((connection) => {
    connection.on('error', () => connection.destroy());
    const send = (packet: Buffer): unknown => connection.write(frame(packet));
    readFrames(connection, (query) => {
      const answer = answerFor(query);
      if (answer.kind === 'tcp only') send(answer.packet());
      else if (answer.kind === 'now') send(answer.packet);
      else if (answer.kind === 'late') setTimeout(send, SLOW_MS, answer.packet);
    });
  });
  await once(udp.bind(port, SERVER), 'listening');
  await once(tcp.listen(port, SERVER), 'listening');
}

for (const port of helperArgument() as readonly number[]) await listen(port);
tellMain('ready');
