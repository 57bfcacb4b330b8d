import { Gauge, Histogram, type Registry } from 'prom-client';

const DURATION_BUCKETS_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900];

export type RefreshResult = 'changed' | 'unchanged' | 'failed';

/** Counts and times the refreshes of sources on this replica. */
export class RefreshMetrics {
  private readonly durations: Histogram<'result'>;
  private readonly running: Gauge;

  constructor(registry: Registry) {
    this.durations = new Histogram({
      name: 'weir_catalogue_refresh_seconds',
      help: 'Time to request and read a source, on this replica',
      labelNames: ['result'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    });
    this.running = new Gauge({
      name: 'weir_catalogue_refreshing',
      help: 'Sources that are being requested or read on this replica',
      registers: [registry],
    });
  }

  async measure(refresh: () => Promise<RefreshResult>): Promise<void> {
    const end = this.durations.startTimer();
    this.running.inc();
    try {
      end({ result: await refresh() });
    } finally {
      this.running.dec();
    }
  }
}
