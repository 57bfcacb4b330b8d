import type { Registry } from 'prom-client';
import { ReadMetrics } from '../read-metrics.js';

/** @param faults by prefix of the variables that name the files, such as `MANAGEMENT_TLS`: see `TlsIdentity.faults` */
export function registerTlsMetrics(
  registry: Registry,
  faults: Readonly<Record<string, () => number>>,
): void {
  new ReadMetrics(registry, 'weir_').counters(
    'tls_file_faults_total',
    'Checks at which the files of a TLS certificate were not usable; the ones before stay in use',
    ['files'],
    () => Object.entries(faults).map(([files, count]) => [{ files }, count()]),
  );
}
