/** Attacks by packets: wrong ones, too many, from strangers. */
import { BALANCER_ADDRESS } from '../../deployment/dns-client.js';
import { addressBytes, encodeQuery, proxyHeader, withEdns } from '../../deployment/dns-message.js';
import { ATTACKER, NEIGHBOUR, POPULAR_ZONE, STRANGERS } from '../shared/target.js';
import { type Attack, pace, type NamedAttack, openSocket } from './attack.js';
import { UdpSender } from './udp-sender.js';

const PACKETS_PER_SECOND = 5_000;
/** Four times `QUERY_RATE_LIMIT`. */
const FLOOD_PER_SECOND = 20_000;
const CONNECTIONS_PER_SECOND = 50;
const UDP_BYTES = 1_232;
const COOKIE_OPTION = 10;
const COOKIE_BYTES = [4, 8, 12, 16, 24, 32, 40, 60];
const FULL_COOKIE_BYTES = 24;
const MAX_GARBAGE_BYTES = 200;
const OPCODE_OFFSET = 2;

const popular = (n: number): Buffer => encodeQuery(n & 0xffff, `n${n % 50}.${POPULAR_ZONE}`);
const randomByte = (): number => Math.floor(Math.random() * 256);
const garbage = (): Buffer => {
  const length = Math.floor(Math.random() * MAX_GARBAGE_BYTES);
  return Buffer.from(Array.from({ length }, randomByte));
};

/** A query of which some bytes are wrong, or the end is missing; or random bytes. */
function damaged(n: number): Buffer {
  const query = withEdns(popular(n), UDP_BYTES);
  const at = Math.floor(Math.random() * query.length);
  switch (n % 4) {
    case 0:
      return garbage();
    case 1:
      return query.subarray(0, at);
    case 2:
      query.writeUInt8(randomByte(), OPCODE_OFFSET);
      return query;
    default:
      query.writeUInt8(randomByte(), at);
      return Buffer.concat([query, garbage()]);
  }
}

const flood =
  (sources: readonly string[], perSecond: number, packet: (n: number) => Buffer): Attack =>
  async (context) => {
    const sender = await UdpSender.open(context, sources);
    await pace(context, perSecond, (n) => sender.send(packet(n), n));
  };

function headerAt(n: number): Buffer {
  const header = proxyHeader(
    addressBytes(NEIGHBOUR),
    randomByte(),
    n % 2 === 0 ? 'datagram' : 'stream',
  );
  const at = Math.floor(Math.random() * header.length);
  switch (n % 4) {
    case 0:
      return garbage();
    case 1:
      return header.subarray(0, at);
    case 2:
      header.writeUInt8(randomByte(), at);
      return Buffer.concat([header, popular(n)]);
    default:
      return Buffer.concat([header, garbage()]);
  }
}

export const PACKET_ATTACKS: readonly NamedAttack[] = [
  {
    name: 'malformed',
    description: '5,000 damaged packets a second',
    run: flood([ATTACKER], PACKETS_PER_SECOND, damaged),
  },
  {
    name: 'strangers',
    description: '5,000 queries a second from 64 sources that are refused',
    run: flood(STRANGERS, PACKETS_PER_SECOND, popular),
  },
  {
    name: 'over-rate',
    description: '20,000 queries a second, four times the limit of a subscriber',
    run: flood([ATTACKER], FLOOD_PER_SECOND, popular),
  },
  /** Cookies of a wrong length, and cookies that this resolver has not signed. */
  {
    name: 'wrong-cookies',
    description: '5,000 queries a second with wrong DNS cookies',
    run: flood([ATTACKER], PACKETS_PER_SECOND, (n) => {
      const isFull = n % 2 === 0;
      const length = isFull ? FULL_COOKIE_BYTES : (COOKIE_BYTES[n % COOKIE_BYTES.length] ?? 0);
      const option = Buffer.from(Array.from({ length: 4 + length }, randomByte));
      option.writeUInt16BE(COOKIE_OPTION, 0);
      option.writeUInt16BE(length, 2);
      return withEdns(popular(n), UDP_BYTES, option);
    }),
  },
  /** Somebody who can send from the address of the load balancer: no header, a damaged one, or one that never ends. */
  {
    name: 'proxy-garbage',
    description: '5,000 damaged PROXY headers a second, and connections with them',
    run: async (context) => {
      const sender = await UdpSender.open(context, [BALANCER_ADDRESS]);
      const datagrams = pace(context, PACKETS_PER_SECOND, (n) => sender.send(headerAt(n), n));
      const connections = pace(context, CONNECTIONS_PER_SECOND, (n) => {
        const socket = openSocket(context, context.target.dnsPort, BALANCER_ADDRESS);
        socket.on('connect', () => socket.write(headerAt(n)));
        context.counts.add('connections');
        socket.on('close', () => context.counts.add('connections closed'));
        socket.resume();
      });
      await Promise.all([datagrams, connections]);
    },
  },
];
