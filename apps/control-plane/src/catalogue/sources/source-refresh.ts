import { CatalogueError, openSource, type SourceDefinition } from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import {
  recordFailure,
  recordList,
  recordUnchanged,
  type SourceState,
} from '../store/source-store.js';
import type { ReadOutcome, SourceLimits } from '../worker/read-source.js';
import { readInThread } from '../worker/worker-thread.js';
import type { RefreshMetrics } from './refresh-metrics.js';
import { rejectionReason } from './rejection-reason.js';

export interface SourceRefreshOptions {
  readonly pool: Pool;
  readonly key: HashKey;
  readonly limits: SourceLimits;
  readonly metrics: RefreshMetrics;
  readonly log: Logger;
}

/**
 * Requests the lists of sources and stores those that can be accepted. One source's failure does not affect another.
 */
export class SourceRefresh {
  constructor(private readonly options: SourceRefreshOptions) {}

  /** Requests one source and records the outcome. @throws only when the database fails or `signal` is aborted. */
  async refresh(
    source: SourceDefinition,
    state: SourceState | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.options.metrics.measure(async () => {
      const last = state?.namesSha256 && state.format === source.format ? state : undefined;
      const outcome = await this.read(source, last, signal);
      const result = await this.applyOutcome(source, last, outcome);
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
        log.error(
          { source: source.name, err: error },
          'reading a catalogue source failed unexpectedly',
        );
      }
      return { status: 'failed', problem: (error as Error).message };
    }
  }

  /** @param last the last accepted list; undefined when there is none in the format that the source has now. */
  private async applyOutcome(
    { name, format }: SourceDefinition,
    last: SourceState | undefined,
    outcome: ReadOutcome,
  ): Promise<'changed' | 'unchanged' | { readonly problem: string }> {
    const { pool, log } = this.options;
    if (outcome.status === 'failed') return outcome;
    if (outcome.status === 'unchanged') {
      if (last === undefined) return { problem: 'answered 304 to a request without a condition' };
      await recordUnchanged(pool, last);
      return 'unchanged';
    }
    const { count, report, etag, lastModified, names, namesSha256 } = outcome;
    const problem = rejectionReason(count, last?.domainCount ?? null);
    if (problem !== null) return { problem };
    const { invalidLines: invalidCount, examples } = report;
    if (invalidCount > 0) {
      log.warn({ source: name, invalidCount, examples }, 'a catalogue source has invalid lines');
    }
    if (last?.namesSha256 === namesSha256) {
      await recordUnchanged(pool, { name, etag, lastModified });
      return 'unchanged';
    }
    const accepted = { format, etag, lastModified, domainCount: count, invalidCount };
    await recordList(pool, name, { ...accepted, names, namesSha256 });
    log.info({ source: name, domains: count }, 'a catalogue source has a new list');
    return 'changed';
  }

  /** Logs a problem when it is new or has changed, not at each attempt. */
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
    await recordFailure(this.options.pool, name, problem);
  }
}

/** Checks a file without starting a worker thread, because this runs every few seconds. */
async function isUnchangedFile(
  source: SourceDefinition,
  etag: string | null,
  limits: SourceLimits,
): Promise<boolean> {
  if (!('path' in source.location) || etag === null) return false;
  return (await openSource(source, { etag, ...limits })).status === 'unchanged';
}
