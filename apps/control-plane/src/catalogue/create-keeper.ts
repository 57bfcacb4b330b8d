import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import type { Registry } from 'prom-client';
import type { ControlPlaneConfiguration } from '../configuration.js';
import type { Database } from '../platform/database/database.js';
import type { ConfigurationWriter } from '../revisions/configuration-writer.js';
import { CatalogueActivation } from './activate/catalogue-activation.js';
import { CatalogueKeeper } from './catalogue-keeper.js';
import { CatalogueMetrics } from './catalogue-metrics.js';
import { SourceRefresh } from './sources/source-refresh.js';

export interface KeeperParts {
  readonly database: Database;
  readonly writer: ConfigurationWriter;
  readonly registry: Registry;
  readonly key: HashKey;
  readonly log: Logger;
}

export function createKeeper(
  configuration: ControlPlaneConfiguration,
  { database, writer, registry, key, log }: KeeperParts,
): CatalogueKeeper {
  const { pool } = database;
  const limits = {
    timeoutMs: configuration.CATALOGUE_SOURCE_TIMEOUT_MS,
    maxBytes: configuration.CATALOGUE_SOURCE_LIMIT,
  };
  const metrics = new CatalogueMetrics(registry, pool);
  return new CatalogueKeeper({
    place: configuration.CATALOGUE,
    key,
    pool,
    sources: new SourceRefresh({ pool, key, limits, metrics, log }),
    activation: new CatalogueActivation(database, writer, log),
    log,
  });
}
