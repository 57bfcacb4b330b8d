/** Attacks on what all subscribers share behind the cache: questions in flight, waiting clients, upstreams. */
import { BALANCER_ADDRESS } from '../../deployment/dns-client.js';
import { encodeQuery, withEdns } from '../../deployment/dns-message.js';
import { ATTACKER, CROWD, NEIGHBOUR, NETWORK_ADDRESSES, ZONES } from '../shared/target.js';
import { type Attack, type AttackContext, pace } from './attack.js';
import { proxyHeader } from './proxy-header.js';
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

export const deadZone = randomNames(ZONES.dead, MANY_PER_SECOND, [ATTACKER]);
export const deadZoneCrowd = randomNames(ZONES.dead, MANY_PER_SECOND, CROWD);
export const slowZone = randomNames(ZONES.slow, MANY_PER_SECOND, [ATTACKER]);
export const slowZoneNetwork = randomNames(ZONES.slow, FILLING_PER_SECOND, NETWORK_ADDRESSES);
export const absentNames = randomNames(ZONES.absent, MANY_PER_SECOND, [ATTACKER]);
export const hugeAnswers = randomNames(ZONES.huge, HUGE_PER_SECOND, [ATTACKER], TYPE_TXT);
export const chains = randomNames(ZONES.chain, CHAINS_PER_SECOND, [ATTACKER]);

/** The attacker has the same address as the neighbour, and other ports of it. */
export const deadZoneNapt: Attack = async (context) => {
  const sender = await UdpSender.open(context, [BALANCER_ADDRESS]);
  const header = proxyHeader(NEIGHBOUR, NAPT_PORT, 'datagram');
  await pace(context, MANY_PER_SECOND, (n) => {
    const query = encodeQuery(n & 0xffff, `${randomLabel(context, n)}.${ZONES.dead}`);
    sender.send(Buffer.concat([header, query]), n);
  });
};

export const deadName: Attack = async (context) => {
  const sender = await UdpSender.open(context, CROWD);
  const qname = `www-${context.target.seed}.${ZONES.dead}`;
  await pace(context, MANY_PER_SECOND, (n) => sender.send(encodeQuery(n & 0xffff, qname), n));
};

export const waitingCrowd: Attack = async (context) => {
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
};

/** Different in each run, and spread over the hash tables of the resolver. */
function randomLabel({ target }: AttackContext, n: number): string {
  return `r${n}-${target.seed}-${Math.random().toString(36).slice(2)}`;
}
