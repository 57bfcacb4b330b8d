import { domainRule, loopback, policyOf, profile } from '@weir/policy-feed/testing';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DnsService } from '../../dns-service.js';
import type { BoundAddresses } from '../../listeners/listening-sockets.js';
import { makeCertificate } from '@weir/ops/testing';
import { askTcp, type TcpOptions } from '../client.js';
import { openHttp2, openTls, postHttp2, type SecurePorts } from '../secure-clients.js';
import { createService, isIdle } from '../service.js';
import { type AskedQuery, frame, UpstreamServer } from '../upstream-server.js';
import { hexOf } from '@weir/dns-wire/testing';
import { faultOf } from './oracle.js';
import { queryPackets, SENTINEL, SENTINEL_ID, upstreamAnswers } from './packets.js';

/** Packets per batch. They fit into the socket buffer of the service. */
const BATCH = 64;
/** The transports of one batch after another: mostly UDP. */
const TRANSPORTS = [...new Array<'udp'>(13).fill('udp'), 'tcp', 'tls', 'https'] as const;
/** Statuses of requests without a DNS answer: the query is invalid or too long, or the client asks too much. */
const REFUSALS = [400, 413, 429];
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
  /** Answers by RCODE. */
  readonly rcodes: ReadonlyMap<number, number>;
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
  private readonly rcodes = new Map<number, number>();
  private upstreamQueries = 0;
  private answers = upstreamAnswers(0, ANSWER_POOL);
  private onSentinel: () => void = () => undefined;

  private constructor(
    readonly service: DnsService,
    private readonly server: BoundAddresses,
    private readonly client: Socket,
    private readonly upstreams: readonly UpstreamServer[],
    private readonly folder: string,
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
    const folder = mkdtempSync(join(tmpdir(), 'weir-fuzz-'));
    const [DNS_TLS_CERT, DNS_TLS_KEY] = [join(folder, 'dns.crt'), join(folder, 'dns.key')];
    makeCertificate(DNS_TLS_CERT, DNS_TLS_KEY);
    const secure = { DNS_TLS_PORT: 0, DNS_HTTPS_PORT: 0, DNS_TLS_CERT, DNS_TLS_KEY };
    const policy = policyOf(
      profile(1),
      loopback(1),
      domainRule(1, 'deny', 'blocked.example'),
      domainRule(1, 'allow', 'allowed.blocked.example'),
    );
    const service = createService(secure, {
      upstreams: upstreams.map(({ endpoint }) => endpoint),
      source: { policy },
      forwarding: { attemptTimeoutMs: 40, queryTimeoutMs: 150 },
    });
    const server = await service.start();
    const client = createSocket('udp4');
    await new Promise<void>((resolve) => client.bind(0, '127.0.0.1', resolve));
    return new Fuzzer(service, server, client, upstreams, folder);
  }

  /** Sends `count` packets, or fewer when faults are found. @param onProgress called now and then */
  async run(seed: number, count: number, onProgress: (sent: number) => void): Promise<FuzzReport> {
    let sent = 0;
    for (let batch = 0; sent < count && this.faults.length === 0; batch++) {
      if (batch % POOL_LIFE === 0) this.answers = upstreamAnswers(seed + batch, ANSWER_POOL);
      const packets = queryPackets(seed + batch, Math.min(BATCH, count - sent));
      await this.send(TRANSPORTS[batch % TRANSPORTS.length], packets);
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
    rmSync(this.folder, { recursive: true });
  }

  /** Ports of DNS over TLS and HTTPS. */
  get securePorts(): SecurePorts {
    const { tlsPort = 0, httpsPort = 0 } = this.server;
    return { tlsPort, httpsPort };
  }

  private report(sent: number): FuzzReport {
    const { answered, upstreamQueries, rcodes, defects, faults } = this;
    return { sent, answered, upstreamQueries, rcodes, defects, faults };
  }

  /** Queries whose handling threw an exception. */
  get defects(): number {
    const dropped = this.service.counts.queries.droppedCounts();
    return dropped.find(([{ why }]) => why === 'defect')?.[1] ?? 0;
  }

  private send(
    transport: (typeof TRANSPORTS)[number],
    packets: readonly Uint8Array[],
  ): Promise<void> {
    switch (transport) {
      case 'udp':
        return this.sendUdp(packets);
      case 'tcp':
        return this.sendTcp(packets);
      case 'tls':
        return this.sendTcp(packets, {
          open: () => openTls(this.securePorts.tlsPort),
        });
      case 'https':
        return this.sendHttps(packets);
    }
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
  private async sendTcp(packets: readonly Uint8Array[], options: TcpOptions = {}): Promise<void> {
    const frames = Buffer.concat(packets.map((packet) => frame(this.register(packet))));
    const answers = await askTcp(this.server, [frames], packets.length, {
      halfClose: true,
      ...options,
    }).catch(
      () => [], // reset: the service disconnects a client that sends invalid queries
    );
    for (const answer of answers) this.take(answer, 'tcp');
  }

  /** Sends all packets at once as requests of one HTTP/2 connection. */
  private async sendHttps(packets: readonly Uint8Array[]): Promise<void> {
    const session = openHttp2(this.securePorts.httpsPort);
    // Each request reports the failure of the session.
    session.on('error', () => undefined);
    try {
      await Promise.all(packets.map((packet) => this.post(session, this.register(packet))));
    } finally {
      session.destroy();
    }
  }

  private async post(session: ClientHttp2Session, packet: Uint8Array): Promise<void> {
    const stream = postHttp2(session, packet);
    let status = 0;
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0;
    });
    const body = Buffer.concat((await stream.toArray()) as Buffer[]);
    if (status === 200) this.take(body, 'tcp');
    else if (!REFUSALS.includes(status)) this.note(`HTTP status ${status} for ${hexOf(packet)}`);
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
    if (fault !== null) this.note(fault);
    const rcode = answer.length < 4 ? -1 : answer[3] & 15;
    this.rcodes.set(rcode, (this.rcodes.get(rcode) ?? 0) + 1);
  }

  private note(fault: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(fault);
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
    while (!isIdle(this.service)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await this.sendUdp([]);
  }
}
