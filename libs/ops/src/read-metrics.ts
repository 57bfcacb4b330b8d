import { Counter, Gauge, type Registry } from 'prom-client';
import type { TlsIdentity } from './tls/tls-identity.js';

export type LabelledValues = Iterable<
  readonly [labels: Readonly<Record<string, string | number>>, value: number]
>;

/** What a scrape waits for. */
type Read<T> = () => T | Promise<T>;

/** Registers metrics that count nothing themselves: their values are read at each scrape. */
export class ReadMetrics {
  /** @param prefix of the names, such as `weir_resolver_` */
  constructor(
    readonly registry: Registry,
    readonly prefix: string,
  ) {}

  counter(name: string, help: string, read: () => number): void {
    this.counters(name, help, [], () => [[{}, read()]]);
  }

  counters(name: string, help: string, labelNames: string[], read: () => LabelledValues): void {
    new Counter({
      ...this.options(name, help, labelNames),
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
  }

  gauge(name: string, help: string, read: Read<number>): void {
    this.gauges(name, help, [], async () => [[{}, await read()]]);
  }

  gauges(name: string, help: string, labelNames: string[], read: Read<LabelledValues>): void {
    new Gauge({
      ...this.options(name, help, labelNames),
      async collect() {
        const values = await read();
        this.reset();
        for (const [labels, value] of values) this.set(labels, value);
      },
    });
  }

  private options(name: string, help: string, labelNames: string[]) {
    return { name: `${this.prefix}${name}`, help, labelNames, registers: [this.registry] };
  }
}

/** @param faults number of checks at which a file was not usable, by the variable that names it */
export function registerFeedFileMetrics(
  registry: Registry,
  faults: Readonly<Partial<Record<'FEED_TOKENS_FILE' | 'FEED_CA', () => number>>>,
): void {
  new ReadMetrics(registry, 'weir_').counters(
    'feed_file_faults_total',
    'Checks at which a file for the feed API was not usable; what it had before stays in force',
    ['variable'],
    () => Object.entries(faults).map(([variable, count]) => [{ variable }, count()]),
  );
}

/** @param identities by prefix of the variables that name their files, such as `MANAGEMENT_TLS`; null: without TLS */
export function registerTlsMetrics(
  registry: Registry,
  identities: Readonly<Record<string, TlsIdentity | null>>,
): void {
  const metrics = new ReadMetrics(registry, 'weir_');
  const valuesOf = (read: (identity: TlsIdentity) => number): LabelledValues =>
    Object.entries(identities).flatMap(([files, identity]) =>
      identity === null ? [] : [[{ files }, read(identity)] as const],
    );
  metrics.counters(
    'tls_file_faults_total',
    'Checks at which the files of a TLS certificate were not usable; the ones before stay in use',
    ['files'],
    () => valuesOf((identity) => identity.faults),
  );
  metrics.gauges(
    'tls_certificate_expiration_timestamp_seconds',
    'When the certificate in use expires (Unix time)',
    ['files'],
    () => valuesOf((identity) => identity.expiresMs / 1000),
  );
}
