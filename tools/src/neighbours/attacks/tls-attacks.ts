/** Attacks by TLS handshakes. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ATTACKER, SERVER } from '../shared/target.js';
import { pace, type NamedAttack, openSocket } from './attack.js';

/** More costs the attacker more processor time than the resolver. */
const HANDSHAKES_PER_SECOND = 150;
const HELLOS_PER_SECOND = 1_000;

async function recordClientHello(): Promise<Buffer> {
  const server = createServer();
  server.listen(0, SERVER);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ host: SERVER, port, rejectUnauthorized: false });
  client.on('error', () => undefined); // Nobody answers it.
  const [connection] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(connection, 'data')) as [Buffer];
  client.destroy();
  connection.destroy();
  server.close();
  return hello;
}

export const TLS_ATTACKS: readonly NamedAttack[] = [
  {
    name: 'tls-handshakes',
    description: '150 TLS handshakes a second',
    run: async (context) => {
      const { target, counts } = context;
      await pace(context, HANDSHAKES_PER_SECOND, () => {
        counts.add('connections');
        const socket = connectTls({
          socket: openSocket(context, target.tlsPort, ATTACKER),
          rejectUnauthorized: false,
        });
        socket.on('secureConnect', () => {
          counts.add('handshakes');
          socket.destroy();
        });
        socket.on('error', () => {
          counts.add('refused');
          socket.destroy();
        });
      });
    },
  },
  /** The first message of a handshake, for which the resolver has to sign; then the attacker leaves. */
  {
    name: 'tls-dropped',
    description: '1,000 TLS handshakes a second, left after the first message',
    run: async (context) => {
      const { counts, target } = context;
      const hello = await recordClientHello();
      await pace(context, HELLOS_PER_SECOND, (n) => {
        counts.add('connections');
        const socket = openSocket(
          context,
          n % 2 === 0 ? target.tlsPort : target.httpsPort,
          ATTACKER,
        );
        let isAnswered = false;
        socket.write(hello);
        socket.on('data', () => {
          isAnswered = true;
          socket.destroy();
        });
        socket.on('close', () => counts.add(isAnswered ? 'answered' : 'refused'));
      });
    },
  },
];
