import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy before Redis that can make connections half-open: they accept bytes of either end and forward none. */
export interface RedisProxy {
  readonly url: string;
  /** Makes the connections half-open that clients of this name have now. New connections work. */
  stopForwarding(clientName: string): void;
  /** How many connections clients of this name have opened so far. */
  connectionCount(clientName: string): number;
  /** New connections lead to this port from now on, as after a failover. */
  redirectTo(redisPort: number): void;
  stop(): Promise<void>;
}

interface ProxiedConnection {
  readonly sockets: readonly [Socket, Socket];
  /** The first bytes of the client. They hold its name. */
  handshake: string;
  isStalled: boolean;
}

/** A client sends its name (CLIENT SETNAME) within these characters. */
const HANDSHAKE_CHARACTERS = 1_000;

export async function startRedisProxy(redisPort: number): Promise<RedisProxy> {
  const connections: ProxiedConnection[] = [];
  let target = redisPort;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const connection: ProxiedConnection = {
      sockets: [client, upstream],
      handshake: '',
      isStalled: false,
    };
    connections.push(connection);
    const forward = (from: Socket, to: Socket): void => {
      from.on('error', () => from.destroy());
      from.on('close', () => to.destroy());
      from.on('data', (bytes: Buffer) => {
        if (from === client && connection.handshake.length < HANDSHAKE_CHARACTERS)
          connection.handshake += bytes.toString('latin1');
        if (!connection.isStalled) to.write(bytes);
      });
    };
    forward(client, upstream);
    forward(upstream, client);
  });
  const connectionsOf = (clientName: string): ProxiedConnection[] =>
    connections.filter(({ handshake }) => handshake.includes(`${clientName}\r\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stopForwarding: (clientName) => {
      for (const connection of connectionsOf(clientName)) connection.isStalled = true;
    },
    connectionCount: (clientName) => connectionsOf(clientName).length,
    redirectTo: (port) => {
      target = port;
    },
    stop: async () => {
      for (const { sockets } of connections) for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
