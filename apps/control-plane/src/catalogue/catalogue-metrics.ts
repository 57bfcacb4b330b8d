import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Pool } from 'pg';
import { withinPatience } from '../platform/database/patience.js';
import { type CatalogueMetadata, findActiveMetadata } from './store/catalogue-store.js';
import { readStates, type SourceState } from './store/source-store.js';

const REFRESH_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900];

export type RefreshResult = 'changed' | 'unchanged' | 'failed';

/** What the database says at the time of a scrape; nothing while it is out of reach. */
interface Sample {
  readonly groups: CatalogueMetadata;
  readonly sources: readonly SourceState[];
}

const NOTHING: Sample = { groups: { categories: [], applications: [] }, sources: [] };

/** What an operator is to know of the catalogue. Every replica tells the same, but for the refreshes, which are its own. */
export class CatalogueMetrics {
  private readonly refreshes: Histogram<'result'>;
  private readonly underWay: Gauge;
  private sampling: Promise<Sample> | null = null;

  constructor(
    private readonly registry: Registry,
    private readonly pool: Pool,
  ) {
    this.refreshes = new Histogram({
      name: 'weir_catalogue_refresh_seconds',
      help: 'Time that a source took to be asked and read, on this replica',
      labelNames: ['result'],
      buckets: REFRESH_SECONDS,
      registers: [registry],
    });
    this.underWay = new Gauge({
      name: 'weir_catalogue_refreshing',
      help: 'Sources that are being asked or read on this replica',
      registers: [registry],
    });
    this.groupGauge('category', 'categories');
    this.groupGauge('application', 'applications');
    this.sourceGauge(
      'age_seconds',
      'Time since the source was read, or found unchanged',
      (source) => source.sinceSuccess,
    );
    this.sourceGauge('domains', 'Domains of its last good list', (source) => source.domainCount);
    this.sourceGauge('failed', '1: the last attempt to refresh it failed', ({ lastError }) =>
      lastError === null ? 0 : 1,
    );
  }

  /** Counts and times the refresh of a source. */
  async measured(refresh: () => Promise<RefreshResult>): Promise<void> {
    const end = this.refreshes.startTimer();
    this.underWay.inc();
    try {
      end({ result: await refresh() });
    } finally {
      this.underWay.dec();
    }
  }

  private groupGauge(label: 'category' | 'application', kind: keyof CatalogueMetadata): void {
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

  /** A gauge whose values are read when it is asked for; null: there is none. */
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

  /** One for all gauges of a scrape. */
  private sample(): Promise<Sample> {
    this.sampling ??= this.read().finally(() => {
      this.sampling = null;
    });
    return this.sampling;
  }

  private read(): Promise<Sample> {
    return withinPatience(this.ask(), NOTHING);
  }

  private async ask(): Promise<Sample> {
    try {
      const [groups, states] = await Promise.all([
        findActiveMetadata(this.pool),
        readStates(this.pool),
      ]);
      return { groups, sources: [...states.values()].filter(({ isNamed }) => isNamed) };
    } catch {
      // Whether the database can be asked is what /readyz tells.
      return NOTHING;
    }
  }
}
