import type { Attack } from './attack.js';
import * as https from './https-attacks.js';
import * as packets from './packet-attacks.js';
import { ruleChange } from './rule-change.js';
import * as strangers from './stranger-attacks.js';
import * as tcp from './tcp-attacks.js';
import * as tls from './tls-attacks.js';
import * as upstream from './upstream-attacks.js';

export interface NamedAttack {
  readonly name: string;
  readonly description: string;
  readonly run: Attack;
}

const attack = (name: string, run: Attack, description: string): NamedAttack => ({
  name,
  run,
  description,
});

/** What a subscriber can do, in this order. */
export const ATTACKS: readonly NamedAttack[] = [
  attack(
    'dead-zone',
    upstream.deadZone,
    '3,000 random names a second below a zone that never answers',
  ),
  attack(
    'dead-zone-napt',
    upstream.deadZoneNapt,
    'the same, from the address of the neighbour, by other ports (NAPT)',
  ),
  attack('dead-zone-crowd', upstream.deadZoneCrowd, 'the same 3,000 a second, from 64 subscribers'),
  attack(
    'dead-name',
    upstream.deadName,
    'one name of that zone, 3,000 times a second, from 64 subscribers',
  ),
  attack(
    'slow-zone',
    upstream.slowZone,
    '3,000 random names a second below a zone that answers after 1.5 s',
  ),
  attack(
    'slow-zone-network',
    upstream.slowZoneNetwork,
    '6,000 a second below that zone, from 64 addresses of a subscriber who has a /24',
  ),
  attack(
    'waiting-crowd',
    upstream.waitingCrowd,
    '16,384 clients of 64 subscribers wait for one name that times out',
  ),
  attack(
    'huge-answers',
    upstream.hugeAnswers,
    '200 random names a second with 60 KB of TXT records',
  ),
  attack('chains', upstream.chains, '1,000 names a second with a chain of 40 CNAME records'),
  attack('absent-names', upstream.absentNames, '3,000 random names a second that do not exist'),
  attack('tcp-idle', tcp.idle, 'TCP connections without a query, as many as it gets'),
  attack('tcp-half', tcp.halfOpen, 'TCP connections with the beginning of a query'),
  attack('tcp-slow', tcp.slowBytes, 'TCP connections that send a byte now and then'),
  attack('tcp-unread', tcp.unread, 'TCP connections that ask for 60 KB answers and read none'),
  attack('tcp-bursts', tcp.bursts, '1,500 queries in one piece over TCP, twice a second'),
  attack('tls-handshakes', tls.handshakes, '150 TLS handshakes a second'),
  attack(
    'tls-dropped',
    tls.droppedHandshakes,
    '1,000 TLS handshakes a second, left after the first message',
  ),
  attack('doh-requests', https.requests, '1,500 requests a second over 20 HTTP/2 connections'),
  attack(
    'doh-resets',
    https.resets,
    '40 HTTP/2 connections a second, each with 600 requests that are reset at once',
  ),
  attack('doh-slow-bodies', https.slowBodies, '300 requests a second whose bodies do not end'),
  attack(
    'stranger-bodies',
    strangers.oneByteBodies,
    '2,500 bytes a second of 480 HTTPS bodies, each among 16 kB, from clients that are not served',
  ),
  attack(
    'stranger-resets',
    strangers.resets,
    'the same as doh-resets, from 64 addresses that are not served',
  ),
  attack(
    'stranger-connections',
    strangers.connections,
    '6,000 TCP, TLS and HTTPS connections from 64 addresses that are not served',
  ),
  attack('malformed', packets.malformed, '5,000 damaged packets a second'),
  attack('strangers', packets.strangers, '5,000 queries a second from 64 sources that are refused'),
  attack(
    'over-rate',
    packets.overRate,
    '20,000 queries a second, four times the limit of a subscriber',
  ),
  attack('wrong-cookies', packets.wrongCookies, '5,000 queries a second with wrong DNS cookies'),
  attack(
    'proxy-garbage',
    packets.proxyGarbage,
    '5,000 damaged PROXY headers a second, and connections with them',
  ),
];

/** What others do. It is measured in the same way, but only when it is asked for by name. */
export const OTHER_LOADS: readonly NamedAttack[] = [
  attack('rule-change', ruleChange, '10,000 rules in one call of the management API'),
];
