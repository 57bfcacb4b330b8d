/** Attacks by TCP connections. */
import type { Socket } from 'node:net';
import { encodeQuery } from '../../deployment/dns-message.js';
import { frame, readFrames } from '../shared/frames.js';
import { ATTACKER, POPULAR_ZONE, ZONES } from '../shared/target.js';
import { type Attack, type AttackContext, pace, type NamedAttack, openSocket } from './attack.js';

const TYPE_TXT = 16;
/** Connections that the attacker wants to have, and how fast it opens them. */
const CONNECTIONS = 2_000;
const CONNECTIONS_PER_SECOND = 500;
/** Of those with queries: a resolver closes them for many reasons, and then they are opened again. */
const BUSY_CONNECTIONS_PER_SECOND = 100;
const SLOW_BYTE_MS = 400;
const UNREAD_QUERIES = 200;
const UNREAD_MS = 2_000;
const BURSTS_PER_SECOND = 2;
/** About as much as one read of the resolver takes in: 64 KiB. */
const BURST_QUERIES = 1_500;

const popular = (n: number): Buffer => frame(encodeQuery(n & 0xffff, `n${n % 50}.${POPULAR_ZONE}`));

/** Keeps as many connections open as it gets, and opens closed ones again. */
const manyConnections =
  (
    onOpen: (socket: Socket, context: AttackContext, n: number) => void,
    perSecond = CONNECTIONS_PER_SECOND,
  ): Attack =>
  async (context) => {
    const { counts } = context;
    let wanted = CONNECTIONS;
    await pace(context, perSecond, (n) => {
      if (wanted === 0) return;
      wanted--;
      counts.add('connections');
      const socket = openSocket(context, context.target.dnsPort, ATTACKER);
      socket.on('connect', () => onOpen(socket, context, n));
      socket.on('close', () => {
        counts.add('closed');
        wanted++;
      });
    });
  };

export const TCP_ATTACKS: readonly NamedAttack[] = [
  {
    name: 'tcp-idle',
    description: 'TCP connections without a query, as many as it gets',
    run: manyConnections((socket) => socket.resume()),
  },
  {
    name: 'tcp-half',
    description: 'TCP connections with the beginning of a query',
    run: manyConnections((socket, _, n) => {
      socket.resume();
      socket.write(popular(n).subarray(0, 1 + (n % 20)));
    }),
  },
  {
    name: 'tcp-slow',
    description: 'TCP connections that send a byte now and then',
    run: manyConnections((socket, { signal }, n) => {
      socket.resume();
      const query = popular(n);
      let at = 0;
      const timer = setInterval(() => {
        if (signal.aborted || socket.destroyed) return clearInterval(timer);
        socket.write(query.subarray(at, at + 1));
        at = (at + 1) % query.length;
      }, SLOW_BYTE_MS);
    }),
  },
  /** After a while it tries again, because it would not see that it was closed. */
  {
    name: 'tcp-unread',
    description: 'TCP connections that ask for 60 KB answers and read none',
    run: manyConnections((socket, { counts }) => {
      socket.pause();
      setTimeout(() => socket.destroy(), UNREAD_MS);
      const query = frame(encodeQuery(1, `one.${ZONES.huge}`, TYPE_TXT));
      socket.write(Buffer.concat(Array.from({ length: UNREAD_QUERIES }, () => query)));
      counts.add('queries', UNREAD_QUERIES);
    }, BUSY_CONNECTIONS_PER_SECOND),
  },
  {
    name: 'tcp-bursts',
    description: '1,500 queries in one piece over TCP, twice a second',
    run: async (context) => {
      const burst = Buffer.concat(Array.from({ length: BURST_QUERIES }, (_, n) => popular(n)));
      let socket: Socket | null = null;
      await pace(context, BURSTS_PER_SECOND, () => {
        if (socket === null) {
          const opened = openSocket(context, context.target.dnsPort, ATTACKER);
          readFrames(opened, () => context.counts.add('answered'));
          opened.on('close', () => {
            context.counts.add('closed by the resolver');
            socket = null;
          });
          socket = opened;
        }
        context.counts.add('queries', BURST_QUERIES);
        socket.write(burst);
      });
    },
  },
];
