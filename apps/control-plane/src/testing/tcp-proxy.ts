import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Resets every connection and rejects new ones, like a server that was stopped. */
  cut(): void;
  /** Accepts bytes and forwards nothing, like a server that hangs. */
  freeze(): void;
  /**
   * Freezes when a client sends this text. Closed connections are not forwarded either, like a network that drops all
   * packets.
   */
  freezeAt(text: string): void;
  /**
   * Loses the connection on which a client next sends this text: nothing passes any more, and neither end is told. New
   * connections work. It is like a firewall that has forgotten the connection.
   */
  loseAt(text: string): void;
  restore(): void;
  /**
   * Resets the connection on which a client next sends this text, before or after the text reaches the server. The
   * reply is lost. `once`: wait until a client has sent that text first. `staysAway`: also reset all others and reject
   * new ones.
   */
  breakAt(
    text: string,
    when: 'before' | 'after',
    options?: { once?: string; staysAway?: boolean },
  ): void;
  stop(): Promise<void>;
}

/** Time in which the server can still read the last bytes. */
const FLUSH_MS = 200;

/** A TCP proxy in front of a server, for tests of failures. @param onSent gets what clients send */
export async function startTcpProxy(
  target: { host: string; port: number },
  onSent: (bytes: Buffer) => void = () => undefined,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: 'open' | 'closed' | 'frozen' = 'open';
  let pendingBreak: {
    text: string;
    when: 'before' | 'after';
    once: string;
    staysAway: boolean;
  } | null = null;
  let freezesAt: string | null = null;
  let losesAt: string | null = null;
  let isCut = false;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const breakConnection = (bytes: Buffer, near: Socket, far: Socket): void => {
    const { when, staysAway } = pendingBreak!;
    pendingBreak = null;
    if (staysAway) {
      state = 'closed';
      for (const other of sockets) if (other !== near && other !== far) other.resetAndDestroy();
    }
    // The server reads the last bytes, finds the end of the connection, and closes it.
    near.removeAllListeners('data').resume();
    far.removeAllListeners('data').removeAllListeners('close').resume();
    far.once('close', () => {
      sockets.delete(far);
      near.resetAndDestroy();
    });
    if (when === 'after') far.write(bytes);
    far.end();
  };
  const lose = (near: Socket, far: Socket): void => {
    losesAt = null;
    for (const socket of [near, far]) socket.removeAllListeners('data').removeAllListeners('close');
    for (const socket of [near, far]) socket.once('close', () => sockets.delete(socket)).resume();
  };
  const server = createServer((near) => {
    track(near);
    if (state === 'closed') {
      near.resetAndDestroy();
      return;
    }
    const far = track(connect(target.port, target.host));
    near.on('data', (bytes: Buffer) => {
      onSent(bytes);
      if (freezesAt !== null && bytes.includes(freezesAt)) {
        [state, isCut, freezesAt] = ['frozen', true, null];
      }
      if (pendingBreak !== null && bytes.includes(pendingBreak.once)) pendingBreak.once = '';
      if (losesAt !== null && bytes.includes(losesAt)) lose(near, far);
      else if (pendingBreak?.once === '' && bytes.includes(pendingBreak.text))
        breakConnection(bytes, near, far);
      else if (state !== 'frozen') far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      if (state !== 'frozen') near.write(bytes);
    });
    near.once('close', () => {
      if (!isCut) setTimeout(() => far.destroy(), FLUSH_MS);
    });
    far.once('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      state = 'closed';
      breakAll();
    },
    freeze: () => {
      state = 'frozen';
    },
    freezeAt: (text) => {
      freezesAt = text;
    },
    loseAt: (text) => {
      losesAt = text;
    },
    restore: () => {
      [state, isCut] = ['open', false];
    },
    breakAt: (text, when, { once = '', staysAway = false } = {}) => {
      pendingBreak = { text, when, once, staysAway };
    },
    stop: async () => {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
