import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge whose value is read when Prometheus asks. @param name what follows `weir_resolver_`. */
export function registerReadGauge(
  registry: Registry,
  name: string,
  help: string,
  value: () => number,
): void {
  new Gauge({
    name: `weir_resolver_${name}`,
    help,
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}
