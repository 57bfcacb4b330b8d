import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to Redis on which single connections can be silenced: what either end sends on them is taken, and never arrives. */
export interface RedisWay {
  readonly url: string;
  /** Silences the connections that were opened until now by clients of this name. New ones work. */
  silence(clientName: string): void;
  /** How many connections of clients of this name there have been. */
  opened(clientName: string): number;
  /** Where new connections lead from now on, as after a failover. */
  leadTo(redisPort: number): void;
  stop(): Promise<void>;
}

interface Link {
  readonly sockets: readonly [Socket, Socket];
  /** What the client said when it introduced itself. */
  introduction: string;
  isSilent: boolean;
}

/** A client gives its name in the first bytes that it sends. */
const INTRODUCTION_CHARACTERS = 1_000;

export async function startRedisWay(redisPort: number): Promise<RedisWay> {
  const links: Link[] = [];
  let target = redisPort;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const link: Link = { sockets: [near, far], introduction: '', isSilent: false };
    links.push(link);
    const hand = (from: Socket, to: Socket): void => {
      from.on('error', () => from.destroy());
      from.on('close', () => to.destroy());
      from.on('data', (bytes: Buffer) => {
        if (from === near && link.introduction.length < INTRODUCTION_CHARACTERS)
          link.introduction += bytes.toString('latin1');
        if (!link.isSilent) to.write(bytes);
      });
    };
    hand(near, far);
    hand(far, near);
  });
  const linksOf = (clientName: string): Link[] =>
    links.filter(({ introduction }) => introduction.includes(`${clientName}\r\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence: (clientName) => {
      for (const link of linksOf(clientName)) link.isSilent = true;
    },
    opened: (clientName) => linksOf(clientName).length,
    leadTo: (port) => {
      target = port;
    },
    stop: async () => {
      for (const { sockets } of links) for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
