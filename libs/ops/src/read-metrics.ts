import { Counter, Gauge, type Registry } from 'prom-client';

/** The values of a metric, each with its labels. */
export type LabelledValues = Iterable<
  readonly [labels: Readonly<Record<string, string | number>>, value: number]
>;

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
      name: `${this.prefix}${name}`,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
  }

  gauge(name: string, help: string, read: () => number): void {
    this.gauges(name, help, [], () => [[{}, read()]]);
  }

  gauges(name: string, help: string, labelNames: string[], read: () => LabelledValues): void {
    new Gauge({
      name: `${this.prefix}${name}`,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
  }
}
