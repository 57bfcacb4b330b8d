import { Counter, type Registry } from 'prom-client';

/** @param faults by prefix of the variables that name the files, such as `MANAGEMENT_TLS`: see `TlsIdentity.faults` */
export function registerTlsMetrics(
  registry: Registry,
  faults: Readonly<Record<string, () => number>>,
): void {
  new Counter({
    name: 'weir_tls_file_faults_total',
    help: 'Checks at which the files of a TLS certificate were not usable; the ones before stay in use',
    labelNames: ['files'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [files, count] of Object.entries(faults)) this.inc({ files }, count());
    },
  });
}
