/*
 * The upstream resolvers, in a process of their own: two addresses with the same zones, healthy ones and others
 * (`ZONES`), UDP and TCP.
 */
import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import { readFrames, writeFrame } from '../shared/frames.js';
import { helperArgument, tellMain } from '../shared/helper-side.js';
import { SLOW_MS } from '../shared/target.js';
import { answerFor } from './answers.js';

const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;
const ADDRESS = '127.0.0.1';

async function listen(port: number): Promise<void> {
  const udp = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
  udp.on('message', (query, { port: from, address }) => {
    const answer = answerFor(query);
    const send = (packet: Buffer): void => udp.send(packet, from, address);
    if (answer.kind === 'now') send(answer.packet);
    else if (answer.kind === 'late') setTimeout(send, SLOW_MS, answer.packet);
    else if (answer.kind === 'tcp only') send(answer.truncated);
  });
  await new Promise<void>((resolve) => udp.bind(port, ADDRESS, resolve));
  await new Promise<void>((resolve) => createServer(serve).listen(port, ADDRESS, resolve));
}

function serve(connection: Socket): void {
  connection.on('error', () => connection.destroy());
  readFrames(connection, (query) => {
    const answer = answerFor(query);
    if (answer.kind === 'tcp only') writeFrame(connection, answer.packet());
    else if (answer.kind === 'now') writeFrame(connection, answer.packet);
    else if (answer.kind === 'late') setTimeout(writeFrame, SLOW_MS, connection, answer.packet);
  });
}

for (const port of helperArgument() as readonly number[]) await listen(port);
tellMain('ready');
