import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge whose value is read at each scrape. */
export function registerReadGauge(
  registry: Registry,
  name: string,
  help: string,
  value: () => number,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}
