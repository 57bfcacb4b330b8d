// Cache hits whose answers have a number of CNAME targets, in a process of its own. Prints the ns of processor time of
// one hit, from the query to the answer, without the socket. Started by run.mjs.
import { SubscriberKey } from '@weir/clients';
import { RuleVerdict } from '@weir/config-model';
import { hashDomain, parseHashKey, toWireName } from '@weir/dns-name';
import { parseResponse, Response } from '@weir/dns-wire';
import { Policy } from '@weir/policy';
import { BlockPages } from '../../../apps/resolver/dist/answer/block-pages.js';
import { AnswerCache } from '../../../apps/resolver/dist/cache/answer-cache.js';
import { TargetHasher } from '../../../apps/resolver/dist/cache/target-hasher.js';
import { PolicyLookup } from '../../../apps/resolver/dist/decision/policy-lookup.js';
import { QueryDecider } from '../../../apps/resolver/dist/decision/query-decider.js';
import { TargetInspector } from '../../../apps/resolver/dist/decision/target-inspector.js';
import { ClientLimits } from '../../../apps/resolver/dist/limits/client-limits.js';
import { ServerCookies } from '../../../apps/resolver/dist/limits/server-cookies.js';
import { LatencyHistogram } from '../../../apps/resolver/dist/metrics/latency-histogram.js';
import { QueryCounters } from '../../../apps/resolver/dist/metrics/query-counters.js';
import { QueryPath } from '../../../apps/resolver/dist/query-path/query-path.js';
import { Exchange } from '../../../apps/resolver/dist/query/exchange.js';
import { ServerIdentity } from '../../../apps/resolver/dist/special/server-identity.js';
import { SpecialNameTable } from '../../../apps/resolver/dist/special/special-name-table.js';
import { DISCOVERY_ZONES, LOCAL_ZONES } from '../../../apps/resolver/dist/special/special-names.js';

const [targetCount, mode] = [Number(process.argv[2]), process.argv[3]];
const KEY = parseHashKey('000102030405060708090a0b0c0d0e0f');
const NAMES = 1024;
const ROUNDS = 5;
const PASSES = 100;

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

function policyOf() {
  const policy = new Policy({ timeZone: 'UTC' });
  const put = (kind, entity) => policy.put({ type: 'put', kind, entity });
  const lists = { whiteListOnly: false, emptyDnsAnswer: false, appawarePriorityOverBwlists: false };
  put('profile', { id: 1, pageId: null, ...lists, categoryIds: [1, 2, 3], applicationRules: [] });
  put('ipv4Network', { address: 0x7f00_0001, prefixLength: 32, profileId: 1 });
  for (let i = 0; i < 100; i++) {
    const domainHash = hashDomain(`blocked${i}.example`, KEY);
    put('domainRule', { profileId: 1, domainHash, verdict: RuleVerdict.deny });
  }
  policy.setRevision(1);
  return policy;
}

/** Four labels, as names of content delivery networks have. */
const targetName = (n, i) => `edge${n}.site${i}.cdn.example`;

function record(owner, type, rdata) {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(300, 4);
  fixed.writeUInt16BE(rdata.length, 8);
  return Buffer.concat([owner, fixed, rdata]);
}

function question(n) {
  return Buffer.concat([toWireName(`www.site${n}.example`), Buffer.from([0, 1, 0, 1])]);
}

function queryOf(n) {
  const opt = Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]), question(n), opt]);
}

function answerOf(n) {
  const records = [];
  let owner = Buffer.from([0xc0, 12]);
  for (let i = 0; i < targetCount; i++) {
    const target = Buffer.from(toWireName(targetName(n, i)));
    records.push(record(owner, 5, target));
    owner = target;
  }
  records.push(record(owner, 1, Buffer.from([192, 0, 2, 1])));
  const header = Buffer.from([0, 7, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]);
  return Buffer.concat([header, question(n), ...records]);
}

const source = { policy: policyOf() };
const policyLookup = new PolicyLookup({
  source,
  hashKey: KEY,
  allowedClients: { has: () => true },
  nowMs: () => 1e12,
});
const targetInspector = new TargetInspector({ source, policyLookup, isEnabled: true });
const response = new Response();
let ticks = 0;
const path = new QueryPath({
  targetInspector,
  decider: new QueryDecider({
    policyLookup,
    discoveryNames: new SpecialNameTable(KEY, DISCOVERY_ZONES),
    localNames: new SpecialNameTable(KEY, LOCAL_ZONES),
    serverIdentity: new ServerIdentity(),
    isReady: () => true,
  }),
  pages: new BlockPages(['192.0.2.80'], new Map()),
  blockTtlSeconds: 10,
  designatedResolvers: [],
  serverIdentity: new ServerIdentity(),
  maxTtlSeconds: Infinity,
  queryLog: null,
  cache: new AnswerCache(64 << 20, 0, undefined, mode === 'kept' ? new TargetHasher(KEY) : null),
  hasNxDomainCut: false,
  upstream: () => ({
    allDown: false,
    refresh: () => false,
    forward: (exchange) => {
      const n = Number(/site(\d+)/.exec(Buffer.from(exchange.bytes).toString('latin1'))[1]);
      const packet = answerOf(n);
      if (!parseResponse(packet, packet.length, response)) throw new Error('malformed');
      path.onCompleted(exchange, response);
      path.onResponse(exchange, response);
      return true;
    },
  }),
  nowSeconds: () => 7,
  limits: new ClientLimits({
    queriesPerSecond: 0,
    errorsPerSecond: 0,
    handshakesPerSecond: 0,
    bytesPerSecond: 0,
    subscriber: new SubscriberKey(source, 5),
    nowSeconds: () => 7,
  }),
  cookies: new ServerCookies([KEY], () => 1e12),
  counters: new QueryCounters(),
  latencies: new LatencyHistogram(),
  nowMs: () => ++ticks,
  onDefect: (error) => {
    throw error;
  },
});

let answered = 0;
const exchange = new Exchange();
exchange.client.set('127.0.0.1', 4242);
exchange.replyPath = {
  transport: 0,
  maxAnswerBytes: () => 1232,
  keepaliveUnits: () => -1,
  reply: (_exchange, answer) => {
    if (answer[7] > 0 || (answer[2] & 2) !== 0) answered++;
  },
  drop: () => undefined,
};
const queries = Array.from({ length: NAMES }, (_, n) => new Uint8Array(queryOf(n)));
function hit(n) {
  exchange.bytes = queries[n];
  exchange.length = queries[n].length;
  path.handle(exchange);
}

/** Goes through all names. @returns ns for each */
function round() {
  const startMs = cpuMs();
  for (let pass = 0; pass < PASSES; pass++) for (let n = 0; n < NAMES; n++) hit(n);
  return ((cpuMs() - startMs) * 1e6) / (PASSES * NAMES);
}

for (let n = 0; n < NAMES; n++) hit(n);
if (answered !== NAMES) throw new Error(`${answered} of ${NAMES} names answered`);
process.stdout.write(String(median(Array.from({ length: ROUNDS }, round))));
