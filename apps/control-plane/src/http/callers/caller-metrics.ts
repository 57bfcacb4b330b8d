import { Counter, type Registry } from 'prom-client';
import type { FailedAttempts } from './failed-attempts.js';

/** Metrics of failed attempts, and of the file with the tokens. */
export function registerCallerMetrics(
  registry: Registry,
  attempts: FailedAttempts,
  file: { readonly faults: number } | null,
): void {
  counter(
    registry,
    'weir_management_bad_credentials_total',
    'Requests to the management API with a token that is unknown, has expired, or is not for their source',
    () => attempts.total,
  );
  counter(
    registry,
    'weir_management_tokens_file_faults_total',
    'Checks at which MANAGEMENT_TOKENS_FILE was not usable; the tokens before it stay in force',
    () => file?.faults ?? 0,
  );
}

function counter(registry: Registry, name: string, help: string, value: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(value());
    },
  });
}
