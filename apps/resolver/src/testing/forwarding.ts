import { SubscriberKey } from '@weir/clients';
import { parseHashKey } from '@weir/dns-name';
import { hasUsableRcode, parseQuery, type Response } from '@weir/dns-wire';
import { decodeMessage, type DecodedMessage, encodeQuery } from '@weir/dns-wire/testing';
import { HASH_KEY_HEX } from '@weir/policy-feed/testing';
import { freePort } from '@weir/ops/testing';
import { loadSystemCalls } from '@weir/udp-batch';
import { createSocket } from 'node:dgram';
import { onTestFinished } from 'vitest';
import {
  ForwardingCounts,
  forwardingTotals,
  type UpstreamTotals,
  upstreamTotals,
} from '../metrics/forwarding-counts.js';
import { Exchange, ForwardResult } from '../query/exchange.js';
import { Forwarder, type ForwarderOptions } from '../upstream/forwarder.js';
import type { Upstream } from '../upstream/upstream.js';
import { PATIENT } from './patient.js';
import { NO_TURN } from './test-clock.js';
import { type Answerer, type ServerOptions, UpstreamServer } from './upstream-server.js';

/** An upstream that runs until the end of the test. */
export async function upstream(
  answer: Answerer,
  address?: string,
  options?: ServerOptions,
): Promise<UpstreamServer> {
  const server = await UpstreamServer.start(answer, address, options);
  onTestFinished(() => server.stop());
  return server;
}

/** An upstream that answers nothing, not even probes. */
export async function silentUpstream(): Promise<UpstreamServer> {
  const server = await upstream(() => null);
  server.fallSilent();
  return server;
}

/** An endpoint on which nothing listens, until the end of the test. */
export async function deadEndpoint() {
  const [address, port] = ['127.0.0.1', await freePort()];
  // Nobody else gets the port for UDP meanwhile. The socket takes packets of itself only, so the kernel refuses others.
  const keeper = createSocket('udp4');
  onTestFinished(() => new Promise<void>((resolve) => keeper.close(resolve)));
  await new Promise<void>((resolve) => keeper.bind(port, address, resolve));
  await new Promise<void>((resolve) => keeper.connect(port, address, resolve));
  return { address, port };
}

const ARCOUNT_OFFSET = 10;

/** The accepted response, decoded; for an error only its RCODE and EDE. */
export type Outcome = DecodedMessage | { rcode: number; ede: number };
const outcomeOf = (response: Response): Outcome =>
  hasUsableRcode(response)
    ? decodeMessage(messageOf(response))
    : { rcode: response.rcode, ede: response.ede };

/** A kept response has no bytes behind its records: the OPT record is not passed on. */
function messageOf({ bytes, recordsEnd, additionalCount }: Response): Uint8Array {
  const message = Buffer.from(bytes.subarray(0, recordsEnd));
  message.writeUInt16BE(additionalCount, ARCOUNT_OFFSET);
  return message;
}

/** Timeouts that no test can wait for. */
export const NEVER = { attemptTimeoutMs: 3_600_000, queryTimeoutMs: 3_600_000 };

/** The outcome when no upstream answers, and when none can be reached. */
export const SILENCE = { rcode: 2, ede: 22 };
export const UNREACHABLE = { rcode: 2, ede: 23 };

/** What the upstream has counted until now, by name. */
export const countsOf = ({ counts }: Upstream): UpstreamTotals => upstreamTotals([counts]);

/** A forwarder and a way to ask it. An outcome is the accepted response, decoded. */
export function forwarder(
  upstreams: ForwarderOptions['upstreams'],
  options: Partial<ForwarderOptions> = {},
) {
  const waiting = new Map<number, (outcome: Outcome) => void>();
  const outcomes: Outcome[] = [];
  const settled: Outcome[] = [];
  const generations: number[] = [];
  const exchanges: Exchange[] = [];
  const settle = (exchange: Exchange, outcome: Outcome) => {
    exchanges.push(exchange);
    outcomes.push(outcome);
    waiting.get(exchange.query.id)?.(outcome);
  };
  const counts = new Float64Array(ForwardingCounts.sizeFor(upstreams.length));
  const subject = new Forwarder({
    upstreams,
    counts,
    nowMs: () => performance.now(),
    turn: NO_TURN,
    portsPerUpstream: 4,
    hasCookies: false,
    calls: loadSystemCalls(),
    ...PATIENT,
    share: {
      subscriber: new SubscriberKey({ policy: null }, 1),
      maxQuestions: 8192,
      maxWaiting: 16_384,
    },
    zones: { maxQuestions: 0, key: parseHashKey(HASH_KEY_HEX) },
    events: {
      hasStale: () => false,
      onDefect: (error) => {
        throw error;
      },
      onCompleted: (_question, response, generation) => {
        settled.push(outcomeOf(response));
        generations.push(generation);
      },
      onResponse: (exchange, response: Response) => {
        settle(exchange, outcomeOf(response));
      },
    },
    ...options,
  });
  subject.open();
  onTestFinished(() => {
    subject.close();
  });
  let nextId = 1;

  const exchangeOf = (name: string, qtype = 1): Exchange => {
    const exchange = new Exchange();
    exchange.bytes = encodeQuery(name, qtype, { id: nextId++ });
    exchange.length = exchange.bytes.length;
    parseQuery(exchange.bytes, exchange.length, exchange.query);
    return exchange;
  };
  /** False when the query is rejected. */
  const tryAsk = (name: string, qtype: number): false | { outcome: Promise<Outcome> } => {
    const exchange = exchangeOf(name, qtype);
    const { id } = exchange.query;
    const outcome = new Promise<Outcome>((resolve) => waiting.set(id, resolve));
    if (subject.forward(exchange, exchange) !== ForwardResult.taken) return false;
    exchange.bytes.fill(0xee);
    return { outcome };
  };
  const ask = (name = 'www.Example.com', qtype = 1): Promise<Outcome> => {
    const asked = tryAsk(name, qtype);
    if (asked === false) throw new Error('rejected');
    return asked.outcome;
  };
  const totals = () => forwardingTotals([new ForwardingCounts(counts)]);
  return {
    ...{ subject, totals, ask, tryAsk, exchangeOf },
    ...{ outcomes, settled, generations, exchanges },
  };
}
