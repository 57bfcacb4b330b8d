import type { Pool } from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { withTimeout } from '../platform/database/with-timeout.js';
import { type CatalogueMetadata, readInForce } from './store/catalogue-store.js';
import { readSamples } from './store/definition-store.js';
import { readStates, type SourceState } from './store/source-store.js';

/** What the database holds at the time of a scrape; empty while it is unreachable. */
interface Sample {
  readonly groups: CatalogueMetadata;
  readonly sources: readonly SourceState[];
  /** Ids of the categories that have only sample names. */
  readonly samples: readonly number[];
}

const EMPTY: Sample = {
  groups: { categories: [], applications: [], popular: [] },
  sources: [],
  samples: [],
};

/** Gauges of the catalogue in force and its sources, read from the database: every replica shows the same values. */
export class CatalogueGauges {
  private sampling: Promise<Sample> | null = null;

  constructor(
    private readonly registry: Registry,
    private readonly pool: Pool,
  ) {
    this.groupGauge('category', 'categories');
    this.groupGauge('application', 'applications');
    this.gauge(
      'weir_catalogue_category_sample',
      '1: the category has only sample names, because no list was added to it',
      'category',
      ({ samples }) => samples.map((id) => [String(id), 1]),
    );
    this.sourceGauge(
      'age_seconds',
      'Time since the source was last read or found unchanged',
      (source) => source.secondsSinceSuccess,
    );
    this.sourceGauge(
      'domains',
      'Domains in the last accepted list of the source',
      (source) => source.domainCount,
    );
    this.sourceGauge(
      'invalid_lines',
      'Lines of the last accepted list of the source that name no domain, or a public suffix',
      (source) => source.invalidCount,
    );
    this.sourceGauge(
      'protected_domains',
      'Domains in the last accepted list of the source that would block a domain of never_block',
      (source) => source.protectedCount,
    );
    this.sourceGauge('failed', '1 when the last refresh of the source failed', ({ failures }) =>
      failures === 0 ? 0 : 1,
    );
    this.sourceGauge(
      'mirrored',
      '1 when a mirror has the list, because the URL of the source could not be read',
      ({ failures, lastError }) => (failures === 0 && lastError !== null ? 1 : 0),
    );
  }

  private groupGauge(label: 'category' | 'application', kind: 'categories' | 'applications'): void {
    const name = `weir_catalogue_${label}_domains`;
    this.gauge(name, `Domains of the ${label} in the catalogue in force`, label, ({ groups }) =>
      groups[kind].map(({ id, domains }) => [String(id), domains]),
    );
  }

  private sourceGauge(
    name: string,
    help: string,
    valueOf: (source: SourceState) => number | null,
  ): void {
    this.gauge(`weir_catalogue_source_${name}`, help, 'source', ({ sources }) =>
      sources.map((source) => [source.name, valueOf(source)]),
    );
  }

  /** A gauge whose values are read at each scrape; a value of null is left out. */
  private gauge(
    name: string,
    help: string,
    label: string,
    valuesOf: (sample: Sample) => (readonly [string, number | null])[],
  ): void {
    const sample = (): Promise<Sample> => this.sample();
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      async collect() {
        const values = valuesOf(await sample());
        this.reset();
        for (const [item, value] of values) if (value !== null) this.set({ [label]: item }, value);
      },
    });
  }

  /** All gauges of one scrape share one read. */
  private sample(): Promise<Sample> {
    this.sampling ??= this.read().finally(() => {
      this.sampling = null;
    });
    return this.sampling;
  }

  private read(): Promise<Sample> {
    return withTimeout(this.query(), EMPTY);
  }

  private async query(): Promise<Sample> {
    try {
      const [{ metadata: groups }, states, samples] = await Promise.all([
        readInForce(this.pool),
        readStates(this.pool),
        readSamples(this.pool),
      ]);
      const sources = [...states.values()].filter(({ isNamed }) => isNamed);
      return { groups, sources, samples: samples.map(({ id }) => id) };
    } catch {
      // /readyz and its log line report a database failure.
      return EMPTY;
    }
  }
}

const DURATION_BUCKETS_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900];

type RefreshResult = 'changed' | 'unchanged' | 'failed';

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
