/** Attacks on what all subscribers share behind the cache: questions in flight, waiting clients, upstreams. */
import { BALANCER_ADDRESS } from '../../deployment/dns-client.js';
import { addressBytes, encodeQuery, proxyHeader, withEdns } from '../../deployment/dns-message.js';
import { ATTACKER, CROWD, NEIGHBOUR, NETWORK_ADDRESSES, ZONES } from '../shared/target.js';
import { type Attack, type AttackContext, pace, type NamedAttack } from './attack.js';
import { UdpSender } from './udp-sender.js';

const TYPE_TXT = 16;
const UDP_BYTES = 1_232;
const MANY_PER_SECOND = 3_000;
/** For 1.5 seconds each: more than can be in flight. */
const FILLING_PER_SECOND = 6_000;
const HUGE_PER_SECOND = 200;
const CHAINS_PER_SECOND = 1_000;
const WAITING_CLIENTS = 16_384;
/** So fast that all of them wait before the first name has failed. */
const WAITING_PER_SECOND = 12_000;
/** From one name to the next: the clients of the first have their answers. */
const NEXT_NAME_MS = 4_500;
/** A port of the attacker in `NEIGHBOUR`'s address. */
const NAPT_PORT = 1_500;

/** Random names below a zone. */
export function randomNames(
  zone: string,
  perSecond: number,
  sources: readonly string[],
  qtype = 1,
): Attack {
  return async (context) => {
    const sender = await UdpSender.open(context, sources);
    await pace(context, perSecond, (n) => {
      const query = encodeQuery(n & 0xffff, `${randomLabel(context, n)}.${zone}`, qtype);
      sender.send(withEdns(query, UDP_BYTES), n);
    });
  };
}

/** Different in each run, and spread over the hash tables of the resolver. */
function randomLabel({ target }: AttackContext, n: number): string {
  return `r${n}-${target.seed}-${Math.random().toString(36).slice(2)}`;
}

export const UPSTREAM_ATTACKS: readonly NamedAttack[] = [
  {
    name: 'dead-zone',
    description: '3,000 random names a second below a zone that never answers',
    run: randomNames(ZONES.dead, MANY_PER_SECOND, [ATTACKER]),
  },
  {
    name: 'dead-zone-napt',
    description: 'the same, from the address of the neighbour, by other ports (NAPT)',
    run: async (context) => {
      const sender = await UdpSender.open(context, [BALANCER_ADDRESS]);
      const header = proxyHeader(addressBytes(NEIGHBOUR), NAPT_PORT);
      await pace(context, MANY_PER_SECOND, (n) => {
        const query = encodeQuery(n & 0xffff, `${randomLabel(context, n)}.${ZONES.dead}`);
        sender.send(Buffer.concat([header, query]), n);
      });
    },
  },
  {
    name: 'dead-zone-crowd',
    description: 'the same 3,000 a second, from 64 subscribers',
    run: randomNames(ZONES.dead, MANY_PER_SECOND, CROWD),
  },
  {
    name: 'dead-name',
    description: 'one name of that zone, 3,000 times a second, from 64 subscribers',
    run: async (context) => {
      const sender = await UdpSender.open(context, CROWD);
      const qname = `www-${context.target.seed}.${ZONES.dead}`;
      await pace(context, MANY_PER_SECOND, (n) => sender.send(encodeQuery(n & 0xffff, qname), n));
    },
  },
  {
    name: 'slow-zone',
    description: '3,000 random names a second below a zone that answers after 1.5 s',
    run: randomNames(ZONES.slow, MANY_PER_SECOND, [ATTACKER]),
  },
  {
    name: 'slow-zone-network',
    description: '6,000 a second below that zone, from 64 addresses of a subscriber who has a /24',
    run: randomNames(ZONES.slow, FILLING_PER_SECOND, NETWORK_ADDRESSES),
  },
  {
    name: 'waiting-crowd',
    description: '16,384 clients of 64 subscribers wait for one name that times out',
    run: async (context) => {
      const sender = await UdpSender.open(context, CROWD);
      let name = 0;
      let asked = 0;
      let startedMs = performance.now();
      await pace(context, WAITING_PER_SECOND, (n) => {
        if (performance.now() - startedMs > NEXT_NAME_MS) {
          startedMs = performance.now();
          asked = 0;
          name++;
        }
        if (asked++ >= WAITING_CLIENTS) return;
        const qname = `wait${name}-${context.target.seed}.${ZONES.dead}`;
        sender.send(encodeQuery(n & 0xffff, qname), n);
      });
    },
  },
  {
    name: 'huge-answers',
    description: '200 random names a second with 60 KB of TXT records',
    run: randomNames(ZONES.huge, HUGE_PER_SECOND, [ATTACKER], TYPE_TXT),
  },
  {
    name: 'chains',
    description: '1,000 names a second with a chain of 40 CNAME records',
    run: randomNames(ZONES.chain, CHAINS_PER_SECOND, [ATTACKER]),
  },
  {
    name: 'absent-names',
    description: '3,000 random names a second that do not exist',
    run: randomNames(ZONES.absent, MANY_PER_SECOND, [ATTACKER]),
  },
];
