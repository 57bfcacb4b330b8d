import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection and refuses new ones, as a server that went away does. */
  cut(): void;
  /** Takes what comes in and hands nothing on, as a server that hangs does. */
  freeze(): void;
  /**
   * The same from when a client sends this text, and nobody hears of a connection that is closed either: a cut that is
   * silent.
   */
  freezeAt(text: string): void;
  mend(): void;
  /**
   * Breaks the connection on which the client next sends this text, before or after it reached the server; the server's
   * answer to it is lost. `once`: not until the client has sent that. `staysAway`: and breaks all others, and refuses
   * new ones.
   */
  breakAt(
    text: string,
    when: 'before' | 'after',
    options?: { once?: string; staysAway?: boolean },
  ): void;
  stop(): Promise<void>;
}

/** Time that the server has to take in what it was sent last. */
const LAST_WORDS_MS = 200;

/** A way to a server that can be cut. */
export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: 'open' | 'closed' | 'frozen' = 'open';
  let trap: { text: string; when: 'before' | 'after'; once: string; staysAway: boolean } | null =
    null;
  let freezesAt: string | null = null;
  let isCut = false;
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const spring = (bytes: Buffer, near: Socket, far: Socket): void => {
    const { when, staysAway } = trap!;
    trap = null;
    if (staysAway) {
      state = 'closed';
      for (const other of sockets) if (other !== near && other !== far) other.resetAndDestroy();
    }
    far.removeAllListeners('data');
    if (when === 'after') far.write(bytes);
    setTimeout(() => far.destroy(), LAST_WORDS_MS);
    setTimeout(() => near.resetAndDestroy(), LAST_WORDS_MS / 2);
  };
  const server = createServer((near) => {
    track(near);
    if (state === 'closed') {
      near.resetAndDestroy();
      return;
    }
    const far = track(connect(target.port, target.host));
    near.on('data', (bytes: Buffer) => {
      if (freezesAt !== null && bytes.includes(freezesAt)) {
        [state, isCut, freezesAt] = ['frozen', true, null];
      }
      if (trap !== null && bytes.includes(trap.once)) trap.once = '';
      if (trap?.once === '' && bytes.includes(trap.text)) spring(bytes, near, far);
      else if (state !== 'frozen') far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      if (state !== 'frozen') near.write(bytes);
    });
    near.once('close', () => {
      if (!isCut) setTimeout(() => far.destroy(), LAST_WORDS_MS);
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
    mend: () => {
      [state, isCut] = ['open', false];
    },
    breakAt: (text, when, { once = '', staysAway = false } = {}) => {
      trap = { text, when, once, staysAway };
    },
    stop: async () => {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
