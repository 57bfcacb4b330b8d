/** Attacks by TLS handshakes. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ATTACKER, SERVER } from '../shared/target.js';
import { type Attack, pace } from './attack.js';

/** More costs the attacker more processor time than the resolver. */
const HANDSHAKES_PER_SECOND = 150;
const HELLOS_PER_SECOND = 1_000;

/** Complete handshakes, and nothing else. */
export const handshakes: Attack = async (context) => {
  const { target, counts } = context;
  await pace(context, HANDSHAKES_PER_SECOND, () => {
    counts.add('connections');
    const socket = connectTls({ socket: open(target.tlsPort), rejectUnauthorized: false });
    socket.on('secureConnect', () => {
      counts.add('handshakes');
      socket.destroy();
    });
    socket.on('error', () => {
      counts.add('refused');
      socket.destroy();
    });
  });
};

/** The first message of a handshake, for which the resolver has to sign; then the attacker leaves. */
export const droppedHandshakes: Attack = async (context) => {
  const { counts, target } = context;
  const hello = await recordClientHello();
  await pace(context, HELLOS_PER_SECOND, (n) => {
    counts.add('connections');
    const socket = open(n % 2 === 0 ? target.tlsPort : target.httpsPort);
    let isAnswered = false;
    socket.write(hello);
    socket.on('data', () => {
      isAnswered = true;
      socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => counts.add(isAnswered ? 'answered' : 'refused'));
  });
};

function open(port: number) {
  return connect({ host: SERVER, port, localAddress: ATTACKER, noDelay: true });
}

async function recordClientHello(): Promise<Buffer> {
  const server = createServer();
  server.listen(0, SERVER);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ host: SERVER, port, rejectUnauthorized: false });
  client.on('error', () => undefined); // Nobody answers it.
  const [connection] = (await once(server, 'connection')) as [ReturnType<typeof connect>];
  const [hello] = (await once(connection, 'data')) as [Buffer];
  client.destroy();
  connection.destroy();
  server.close();
  return hello;
}
