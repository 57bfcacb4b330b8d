import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import type { Registry } from 'prom-client';
import type { Database } from '../platform/database/database.js';
import type { ConfigurationWriter } from '../revisions/configuration-writer.js';
import { CatalogueActivation } from './activate/catalogue-activation.js';
import { CatalogueGauges } from './catalogue-gauges.js';
import { CatalogueUpdater } from './catalogue-updater.js';
import { RefreshMetrics } from './sources/refresh-metrics.js';
import { SourceRefresh } from './sources/source-refresh.js';
import type { SourceLimits } from './worker/read-source.js';

export interface CreateUpdaterOptions {
  /** Folder of the definition, or the http(s) URL of one. */
  readonly location: string;
  /** Of each source. */
  readonly limits: SourceLimits;
  readonly database: Database;
  readonly writer: ConfigurationWriter;
  readonly registry: Registry;
  readonly key: HashKey;
  /** See `CatalogueUpdaterOptions`. */
  readonly admit: () => Promise<void>;
  readonly log: Logger;
}

/** Creates the updater with all its parts, and registers the metrics of the catalogue. */
export function createUpdater({
  location,
  limits,
  database,
  writer,
  registry,
  key,
  admit,
  log,
}: CreateUpdaterOptions): CatalogueUpdater {
  const { pool } = database;
  const metrics = new RefreshMetrics(registry);
  new CatalogueGauges(registry, pool);
  return new CatalogueUpdater({
    location,
    key,
    pool,
    sources: new SourceRefresh({ pool, key, limits, metrics, log }),
    activation: new CatalogueActivation(database, writer, log),
    admit,
    log,
  });
}
