import { Counter, Histogram, type Registry } from 'prom-client';

/** Counts and times requests by method, route pattern and status; never by path. */
export class RequestMetrics {
  private readonly requests: Counter<'method' | 'route' | 'status'>;
  private readonly durations: Histogram<'method' | 'route'>;
  private readonly refusedConnections: Counter;

  constructor(registry: Registry) {
    this.requests = new Counter({
      name: 'weir_management_requests_total',
      help: 'Requests to the management API',
      labelNames: ['method', 'route', 'status'],
      registers: [registry],
    });
    this.durations = new Histogram({
      name: 'weir_management_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its response',
      labelNames: ['method', 'route'],
      buckets: [0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers: [registry],
    });
    this.refusedConnections = new Counter({
      name: 'weir_management_connections_refused_total',
      help: 'Connections to the management API that were closed at once: MANAGEMENT_CONNECTIONS were open',
      registers: [registry],
    });
  }

  countRefusedConnection(): void {
    this.refusedConnections.inc();
  }

  /** @param startedMs null: the response is a stream, which lasts as long as its client wants. */
  observe(method: string, route: string, status: number, startedMs: number | null): void {
    // Clients may send any method. Only methods that a route has get their own series.
    const label = route === 'none' ? 'other' : method;
    this.requests.inc({ method: label, route, status });
    if (startedMs === null) return;
    this.durations.observe({ method: label, route }, (performance.now() - startedMs) / 1000);
  }
}
