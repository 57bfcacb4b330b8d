import { CatalogueError, openSource, type SourceDefinition } from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import type { CatalogueMetrics } from '../catalogue-metrics.js';
import type { ReadOutcome, SourceLimits } from '../worker/catalogue-tasks.js';
import { readInThread } from '../worker/catalogue-thread.js';
import { refusalOf } from './source-guard.js';
import {
  noteFailure,
  noteGoodList,
  noteUnchanged,
  type SourceState,
} from '../store/source-store.js';

export interface SourceRefreshOptions {
  readonly pool: Pool;
  readonly key: HashKey;
  readonly limits: SourceLimits;
  readonly metrics: CatalogueMetrics;
  readonly log: Logger;
}

/** Asks sources for their lists and keeps what is good of them. No source has a part in what becomes of another. */
export class SourceRefresh {
  constructor(private readonly options: SourceRefreshOptions) {}

  /** Asks a source, and notes what came of it. @throws only when the database cannot be asked, or `signal` is aborted. */
  async refresh(
    source: SourceDefinition,
    state: SourceState | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.options.metrics.measured(async () => {
      const last = state?.namesSha256 && state.format === source.format ? state : undefined;
      const outcome = await this.read(source, last, signal);
      const result = await this.takeOver(source, last, outcome);
      if (typeof result === 'string') return result;
      await this.fail(source, state, result.problem);
      return 'failed';
    });
  }

  private async read(
    source: SourceDefinition,
    last: SourceState | undefined,
    signal: AbortSignal,
  ): Promise<ReadOutcome> {
    const { key, limits, log } = this.options;
    const { etag = null, lastModified = null } = last ?? {};
    try {
      if (await isUnchangedFile(source, etag, limits)) return { status: 'unchanged' };
      return await readInThread({ source, key, etag, lastModified, limits }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CatalogueError)) {
        log.error({ source: source.name, err: error }, 'the reader of a catalogue source broke');
      }
      return { status: 'failed', problem: (error as Error).message };
    }
  }

  /** @param last the last good list, in the format that the source has now. */
  private async takeOver(
    { name, format }: SourceDefinition,
    last: SourceState | undefined,
    outcome: ReadOutcome,
  ): Promise<'changed' | 'unchanged' | { readonly problem: string }> {
    const { pool, log } = this.options;
    if (outcome.status === 'failed') return outcome;
    if (outcome.status === 'unchanged') {
      if (last === undefined) return { problem: 'answered 304 unasked' };
      await noteUnchanged(pool, last);
      return 'unchanged';
    }
    const { count, report, etag, lastModified, names, namesSha256 } = outcome;
    const problem = refusalOf(count, last?.domainCount ?? null);
    if (problem !== null) return { problem };
    const { invalidLines: invalidCount, examples } = report;
    if (invalidCount > 0) {
      log.warn({ source: name, invalidCount, examples }, 'a catalogue source has invalid lines');
    }
    if (last?.namesSha256 === namesSha256) {
      await noteUnchanged(pool, { name, etag, lastModified });
      return 'unchanged';
    }
    const kept = { format, etag, lastModified, domainCount: count, invalidCount };
    await noteGoodList(pool, name, { ...kept, names, namesSha256 });
    log.info({ source: name, domains: count }, 'a catalogue source has a new list');
    return 'changed';
  }

  /** Said once for as long as it stays the same. */
  private async fail(
    { name, declaredAt }: SourceDefinition,
    state: SourceState | undefined,
    problem: string,
  ): Promise<void> {
    if (state?.lastError !== problem) {
      this.options.log.warn(
        { source: name, declaredAt, problem },
        'a catalogue source cannot be used',
      );
    }
    await noteFailure(this.options.pool, name, problem);
  }
}

/** Known without a thread, as it is asked every few seconds. */
async function isUnchangedFile(
  source: SourceDefinition,
  etag: string | null,
  limits: SourceLimits,
): Promise<boolean> {
  if (!('path' in source.location) || etag === null) return false;
  return (await openSource(source, { etag, ...limits })).status === 'unchanged';
}
