import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { createSocket, type Socket } from 'node:dgram';
import { DnsService } from '../../dns-service.js';
import { createLogger } from '@weir/ops';
import { askTcp } from '../client.js';
import { CONFIGURATION } from '../configuration.js';
import { type AskedQuery, frame, UpstreamServer } from '../upstream-server.js';
import { faultOf } from './oracle.js';
import {
  queryPackets,
  SENTINEL,
  SENTINEL_ID,
  upstreamAnswers,
  type UpstreamAnswer,
} from './packets.js';

/** Packets per batch. They fit into the socket buffer of the service. */
const BATCH = 64;
/** One batch in this many goes over TCP. */
const TCP_SHARE = 8;
const ANSWER_POOL = 2048;
/** The pool of upstream answers is regenerated after this many batches. */
const POOL_LIFE = 256;
const SENTINEL_MS = 2_000;
const MAX_FAULTS = 5;

/** The result of a run. */
export interface FuzzReport {
  readonly sent: number;
  readonly answered: number;
  readonly upstreamQueries: number;
  /** Queries whose handling threw an exception. */
  readonly defects: number;
  readonly faults: readonly string[];
}

/**
 * Sends valid and damaged queries to a whole service over real sockets. Its upstreams send valid and damaged answers.
 */
export class Fuzzer {
  private readonly sent: (Uint8Array | undefined)[] = [];
  private readonly faults: string[] = [];
  private nextId = 0;
  private answered = 0;
  private upstreamQueries = 0;
  private answers: UpstreamAnswer[] = [];
  private onSentinel: () => void = () => undefined;

  private constructor(
    readonly service: DnsService,
    private readonly server: { address: string; port: number },
    private readonly client: Socket,
    private readonly upstreams: readonly UpstreamServer[],
  ) {
    client.on('message', (answer, from) => {
      // The port may have belonged to another process, and packets for it may still arrive.
      if (from.port !== server.port) return;
      if (answer.length >= 2 && answer.readUInt16BE(0) === SENTINEL_ID) this.onSentinel();
      else this.take(answer, 'udp');
    });
    for (const upstream of upstreams) {
      upstream.answer = (query) => this.answerOf(upstream, query);
    }
  }

  static async start(): Promise<Fuzzer> {
    const upstreams = [
      await UpstreamServer.start(() => null),
      await UpstreamServer.start(() => null),
    ];
    const service = new DnsService({
      configuration: CONFIGURATION,
      upstreams: upstreams.map(({ endpoint }) => endpoint),
      source: {
        policy: policyOf(
          profile(1),
          loopback(1),
          domainRule(1, 'deny', 'blocked.example'),
          domainRule(1, 'allow', 'allowed.blocked.example'),
        ),
      },
      log: createLogger({ name: 'resolver', level: 'silent' }),
      forwarding: { attemptTimeoutMs: 40, queryTimeoutMs: 150 },
    });
    const server = await service.start();
    const client = createSocket('udp4');
    await new Promise<void>((resolve) => client.bind(0, '127.0.0.1', resolve));
    return new Fuzzer(service, server, client, upstreams);
  }

  /** Sends `count` packets, or fewer when faults are found. @param onProgress called now and then */
  async run(seed: number, count: number, onProgress: (sent: number) => void): Promise<FuzzReport> {
    let sent = 0;
    for (let batch = 0; sent < count && this.faults.length === 0; batch++) {
      if (batch % POOL_LIFE === 0) this.answers = upstreamAnswers(seed + batch, ANSWER_POOL);
      const packets = queryPackets(seed + batch, Math.min(BATCH, count - sent));
      await (batch % TCP_SHARE === TCP_SHARE - 1 ? this.sendTcp(packets) : this.sendUdp(packets));
      sent += packets.length;
      onProgress(sent);
    }
    await this.settle();
    return this.report(sent);
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.service.stop();
    for (const upstream of this.upstreams) await upstream.stop();
  }

  private report(sent: number): FuzzReport {
    const { answered, upstreamQueries, faults, service } = this;
    const dropped = service.counters.droppedCounts().find(([{ why }]) => why === 'defect');
    return { sent, answered, upstreamQueries, defects: dropped?.[1] ?? 0, faults };
  }

  private async sendUdp(packets: readonly Uint8Array[]): Promise<void> {
    const { address, port } = this.server;
    for (const packet of packets) this.client.send(this.register(packet), port, address);
    await new Promise<void>((resolve) => {
      const ask = (): void => {
        this.client.send(SENTINEL, port, address);
      };
      // The sentinel may be lost if the buffer was full.
      const timer = setInterval(ask, SENTINEL_MS);
      this.onSentinel = () => {
        clearInterval(timer);
        resolve();
      };
      ask();
    });
  }

  /** Sends all packets at once over one connection. A dropped query closes the connection. */
  private async sendTcp(packets: readonly Uint8Array[]): Promise<void> {
    const frames = Buffer.concat(packets.map((packet) => frame(this.register(packet))));
    const answers = await askTcp(this.server, [frames], packets.length, { halfClose: true }).catch(
      () => [], // reset: the service disconnects a client that sends invalid queries
    );
    for (const answer of answers) this.take(answer, 'tcp');
  }

  /** Gives the packet an id that identifies its answer, if it is long enough for an id. */
  private register(packet: Uint8Array): Uint8Array {
    const id = this.nextId;
    this.nextId = (this.nextId + 1) % SENTINEL_ID;
    if (packet.length < 2) return packet;
    const registered = Uint8Array.from(packet);
    registered[0] = id >>> 8;
    registered[1] = id & 255;
    this.sent[id] = registered;
    return registered;
  }

  private take(answer: Uint8Array, transport: 'udp' | 'tcp'): void {
    this.answered++;
    const id = answer.length < 2 ? -1 : (answer[0] << 8) | answer[1];
    const fault = faultOf(this.sent[id], answer, transport);
    // Each query has one answer.
    this.sent[id] = undefined;
    if (fault !== null && this.faults.length < MAX_FAULTS) this.faults.push(fault);
  }

  private answerOf(upstream: UpstreamServer, { bytes, message }: AskedQuery): Uint8Array {
    upstream.asked.length = 0;
    upstream.probes.length = 0;
    const [question] = message.questions;
    const qname = bytes.slice(12, message.questionEnd - 4);
    const make = this.answers[this.upstreamQueries++ % this.answers.length];
    return make(message.id, qname, question.qtype);
  }

  /** Waits until nothing is in flight. */
  private async settle(): Promise<void> {
    const { forwarder } = this.service;
    while (forwarder.waiting + forwarder.inFlight > 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await this.sendUdp([]);
  }
}
