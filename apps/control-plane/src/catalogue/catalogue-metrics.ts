import { ReadMetrics } from '@weir/ops/metrics';
import type { Pool } from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { withTimeout } from '../platform/database/with-timeout.js';
import { type CatalogueMetadata, NO_GROUPS, readInForce } from './store/catalogue-store.js';
import { readSamples } from './store/definition-store.js';
import { readStates, type SourceState } from './store/source-store.js';

/** What the database holds at the time of a scrape; empty while it is unreachable. */
interface Sample {
  readonly groups: CatalogueMetadata;
  readonly sources: readonly SourceState[];
  /** Ids of the categories that have only sample names. */
  readonly samples: readonly number[];
}

const EMPTY: Sample = { groups: NO_GROUPS, sources: [], samples: [] };

/** Gauges of the catalogue in force and its sources, read from the database: every replica shows the same values. */
export function registerCatalogueGauges(registry: Registry, pool: Pool): void {
  const metrics = new ReadMetrics(registry, 'weir_catalogue_');
  let sampling: Promise<Sample> | null = null;
  // All gauges of one scrape share one read. /readyz and its log line report a database failure.
  const sample = (): Promise<Sample> =>
    (sampling ??= withTimeout(
      readSample(pool).catch(() => EMPTY),
      EMPTY,
    ).finally(() => (sampling = null)));
  const groupGauge = (label: string, kind: 'categories' | 'applications'): void =>
    metrics.gauges(
      `${label}_domains`,
      `Domains of the ${label} in the catalogue in force`,
      [label],
      async () =>
        (await sample()).groups[kind].map(({ id, domains }) => [{ [label]: id }, domains]),
    );
  groupGauge('category', 'categories');
  groupGauge('application', 'applications');
  metrics.gauges(
    'category_sample',
    '1: the category has only sample names, because no list was added to it',
    ['category'],
    async () => (await sample()).samples.map((category) => [{ category }, 1]),
  );
  for (const [name, [valueOf, help]] of Object.entries(SOURCE_GAUGES)) {
    metrics.gauges(`source_${name}`, help, ['source'], async () =>
      (await sample()).sources.flatMap((source) => {
        const value = valueOf(source);
        return value === null ? [] : [[{ source: source.name }, Number(value)] as const];
      }),
    );
  }
}

/** By name the value, which is left out if it is null, and the help. */
const SOURCE_GAUGES: Readonly<
  Record<string, readonly [(source: SourceState) => number | boolean | null, help: string]>
> = {
  age_seconds: [
    (source) => source.secondsSinceSuccess,
    'Time since the source was last read or found unchanged',
  ],
  domains: [(source) => source.domainCount, 'Domains in the last accepted list of the source'],
  invalid_lines: [
    (source) => source.invalidCount,
    'Lines of the last accepted list of the source that name no domain, or a public suffix',
  ],
  protected_domains: [
    (source) => source.protectedCount,
    'Domains in the last accepted list of the source that would block a domain of never_block',
  ],
  failed: [({ failures }) => failures > 0, '1 when the last refresh of the source failed'],
  mirrored: [
    ({ failures, lastError }) => failures === 0 && lastError !== null,
    '1 when a mirror has the list, because the URL of the source could not be read',
  ],
};

async function readSample(pool: Pool): Promise<Sample> {
  const [{ metadata: groups }, states, samples] = await Promise.all([
    readInForce(pool),
    readStates(pool),
    readSamples(pool),
  ]);
  const sources = [...states.values()].filter(({ isNamed }) => isNamed);
  return { groups, sources, samples: samples.map(({ id }) => id) };
}

/** Counts and times the refreshes of sources on this replica. */
export class RefreshMetrics {
  private readonly durations: Histogram<'result'>;
  private readonly running: Gauge;

  constructor(registry: Registry) {
    this.durations = new Histogram({
      name: 'weir_catalogue_refresh_seconds',
      help: 'Time to request and read a source, on this replica',
      labelNames: ['result'],
      buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900],
      registers: [registry],
    });
    this.running = new Gauge({
      name: 'weir_catalogue_refreshing',
      help: 'Sources that are being requested or read on this replica',
      registers: [registry],
    });
  }

  async measure(refresh: () => Promise<'changed' | 'unchanged' | 'failed'>): Promise<void> {
    const end = this.durations.startTimer();
    this.running.inc();
    try {
      end({ result: await refresh() });
    } finally {
      this.running.dec();
    }
  }
}
