import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ProtobufMessage } from './protobuf.js';

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span as it was received. Ids in hexadecimal. */
export interface ReceivedSpan {
  readonly service: string;
  readonly resource: Attributes;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it has none. */
  readonly parentSpanId: string;
  readonly name: string;
  /** SPAN_KIND_INTERNAL 1, SERVER 2, CLIENT 3, PRODUCER 4, CONSUMER 5. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Attributes;
  readonly events: readonly string[];
  /** Ids of the spans that it is linked to. */
  readonly links: readonly string[];
  readonly hasFailed: boolean;
}

export interface ReceivedMetric {
  readonly service: string;
  readonly name: string;
  readonly points: number;
}

/** A collector on loopback: takes OTLP over HTTP (protobuf), and keeps what it gets. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly metrics: ReceivedMetric[] = [];
  /** Bodies as they came. */
  readonly bodies: Buffer[] = [];
  readonly headers: Record<string, string | string[] | undefined>[] = [];
  private readonly server: Server;

  private constructor(respond: boolean) {
    this.server = createServer((request, response) => {
      void buffer(request).then((body) => {
        this.headers.push(request.headers);
        this.keep(request.url ?? '', body);
        if (respond) response.setHeader('Content-Type', 'application/x-protobuf').end();
      });
    });
  }

  static start(): Promise<OtlpReceiver> {
    return OtlpReceiver.listen(true);
  }

  /** It takes everything and answers nothing. */
  static startSilent(): Promise<OtlpReceiver> {
    return OtlpReceiver.listen(false);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private static async listen(respond: boolean): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver(respond);
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** The numbers are those of opentelemetry/proto/{trace,metrics}/v1. */
  private keep(url: string, body: Buffer): void {
    this.bodies.push(body);
    for (const ofResource of new ProtobufMessage(body).messages(1)) {
      const resource = attributesOf(ofResource.message(1).messages(1));
      const service = String(resource['service.name']);
      const items = ofResource.messages(2).flatMap((scope) => scope.messages(2));
      if (url === '/v1/traces') {
        this.spans.push(...items.map((span) => ({ ...readSpan(span), resource, service })));
      } else if (url === '/v1/metrics') {
        this.metrics.push(...items.map((metric) => ({ ...readMetric(metric), service })));
      }
    }
  }
}

function readSpan(span: ProtobufMessage): Omit<ReceivedSpan, 'resource' | 'service'> {
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    parentSpanId: span.hex(4),
    name: span.text(5),
    kind: Number(span.integer(6)),
    startNs: span.integer(7),
    endNs: span.integer(8),
    attributes: attributesOf(span.messages(9)),
    events: span.messages(11).map((event) => event.text(2)),
    links: span.messages(13).map((link) => link.hex(2)),
    hasFailed: span.message(15).integer(3) === 2n,
  };
}

function readMetric(metric: ProtobufMessage): Omit<ReceivedMetric, 'service'> {
  const kind = [5, 7, 9].find((field) => metric.has(field)) ?? 0;
  return { name: metric.text(1), points: metric.message(kind).messages(1).length };
}

function attributesOf(entries: readonly ProtobufMessage[]): Attributes {
  return Object.fromEntries(entries.map((entry) => [entry.text(1), readValue(entry.message(2))]));
}

function readValue(value: ProtobufMessage): string | number | boolean {
  if (value.has(2)) return value.integer(2) === 1n;
  if (value.has(3)) return Number(value.integer(3));
  return value.has(4) ? value.double(4) : value.text(1);
}
