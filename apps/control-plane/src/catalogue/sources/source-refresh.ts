import {
  CatalogueError,
  type Definition,
  isSecretSource,
  isTransfer,
  openSource,
  type SourceDefinition,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Pool } from 'pg';
import type { RefreshMetrics } from '../catalogue-metrics.js';
import {
  readBytes,
  recordFailure,
  recordHeld,
  recordList,
  recordUnchanged,
  type SourceState,
} from '../store/source-store.js';
import { type ReadOutcome, readSource, type SourceLimits } from '../worker/read-source.js';
import { runInThread } from '../worker/worker-thread.js';

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

  /**
   * Requests one source of a definition and records the outcome.
   * @throws only when the database fails or `signal` is aborted.
   */
  async refresh(
    source: SourceDefinition,
    state: SourceState | undefined,
    definition: Definition,
    signal: AbortSignal,
  ): Promise<void> {
    const { pool, metrics } = this.options;
    await metrics.measure(async () => {
      const last = state?.namesSha256 && state.format === source.format ? state : undefined;
      try {
        const outcome = await this.read(source, last, definition, signal);
        const result = await this.accept(source, last, definition, outcome);
        const { problem } = outcome;
        if (problem !== null) {
          this.logProblem(source, state, problem, 'a catalogue source is read from a mirror');
        }
        return result;
      } catch (error) {
        if (!(error instanceof CatalogueError)) throw error;
        this.logProblem(source, state, error.message, 'a catalogue source cannot be used');
        await recordFailure(pool, source.name, error.message);
        return 'failed';
      }
    });
  }

  /** @throws CatalogueError when it cannot be read, for whatever reason. */
  private async read(
    source: SourceDefinition,
    last: SourceState | undefined,
    { neverBlock }: Definition,
    signal: AbortSignal,
  ): Promise<ReadOutcome> {
    const { pool, key, limits, log } = this.options;
    const isSameReading = last?.readWith === readWith(source, neverBlock);
    const known = isSameReading ? last : undefined;
    const { etag = null, lastModified = null, mirror = null } = known ?? {};
    try {
      if (await isUnchanged(source, etag, limits)) return { status: 'unchanged', problem: null };
      const before = last?.placesBytes
        ? {
            names: await readBytes(pool, 'names', last),
            places: await readBytes(pool, 'places', last),
            invalidCount: last.invalidCount ?? 0,
          }
        : null;
      const task = { source, key, etag, lastModified, mirror, neverBlock, before, limits };
      if (await isSmallFile(source)) return await readSource(task);
      const transferred = before === null ? [] : [before.names, before.places];
      return await runInThread('read', task, signal, transferred);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CatalogueError) throw error;
      const fields = { source: source.name, err: error };
      log.error(fields, 'reading a catalogue source failed unexpectedly');
      throw new CatalogueError((error as Error).message, { cause: error });
    }
  }

  /**
   * @param last the last accepted list; undefined when there is none in the format that the source has now.
   * @throws CatalogueError when the list cannot be accepted.
   */
  private async accept(
    source: SourceDefinition,
    last: SourceState | undefined,
    definition: Definition,
    outcome: ReadOutcome,
  ): Promise<'changed' | 'unchanged'> {
    const { pool, log } = this.options;
    if (outcome.status === 'unchanged') {
      if (last === undefined) {
        throw new CatalogueError('answered 304 to a request without a condition');
      }
      await recordUnchanged(pool, last, outcome.problem);
      return 'unchanged';
    }
    const { name, format, sha256 } = source;
    const { list, report, transfer, problem, commonCount } = outcome;
    const stored = { ...list, format, readWith: readWith(source, definition.neverBlock) };
    // Who pins a list has accepted it.
    const lastCount = sha256 === null ? (last?.domainCount ?? null) : null;
    const rejection = rejectionOf(list.domainCount, lastCount, commonCount);
    if (rejection?.isHeld && !(await recordHeld(pool, name, stored, last?.namesSha256 ?? ''))) {
      return 'unchanged';
    }
    if (rejection !== null) throw new CatalogueError(rejection.problem);
    const { invalidCount, domainCount: domains } = list;
    if (invalidCount > 0) {
      const fields = { source: name, invalidCount, examples: report.examples };
      log.warn(fields, 'a catalogue source has invalid lines');
    }
    this.logProtected(source, definition, outcome);
    // Also the same list: its lines may have moved.
    await recordList(pool, name, stored, problem);
    if (last?.namesSha256 === list.namesSha256 && last.readWith === stored.readWith) {
      return 'unchanged';
    }
    log.info({ source: name, domains, transfer }, 'a catalogue source has a new list');
    return 'changed';
  }

  /** Logs a problem when it is new or has changed, not at each attempt. */
  private logProblem(
    { name, declaredAt }: SourceDefinition,
    state: SourceState | undefined,
    problem: string,
    message: string,
  ): void {
    if (state?.lastError === problem) return;
    this.options.log.warn({ source: name, declaredAt, problem }, message);
  }

  private logProtected(
    source: SourceDefinition,
    definition: Definition,
    { list, protectedLines }: Extract<ReadOutcome, { status: 'read' }>,
  ): void {
    if (list.protectedCount === 0) return;
    const examples = isSecretSource(definition, source) ? [] : protectedLines;
    const naming = definition.categories.filter(({ sources }) => sources.includes(source));
    this.options.log.warn(
      {
        source: source.name,
        names: list.protectedCount,
        examples,
        takenWithoutThemBy: naming.filter(({ isGuarded }) => isGuarded).map(({ id }) => id),
        takenWholeBy: naming.filter(({ isGuarded }) => !isGuarded).map(({ id }) => id),
      },
      'a catalogue source lists names that would block those of never_block',
    );
  }
}

/** A thread takes longer to start than such a list takes to read. */
const SMALL_BYTES = 256 * 1024;

async function isSmallFile({ location }: SourceDefinition): Promise<boolean> {
  // A packed list may be a thousand times as large.
  if (!('path' in location) || /\.t?gz$/i.test(location.path)) return false;
  const stats = await stat(location.path).catch(() => null);
  return stats !== null && stats.isFile() && stats.size <= SMALL_BYTES;
}

/** Asks a file or a zone without a worker thread and the list before, because this may run every few seconds. */
async function isUnchanged(
  source: SourceDefinition,
  etag: string | null,
  limits: SourceLimits,
): Promise<boolean> {
  const { location } = source;
  if (etag === null || !('path' in location || isTransfer(location))) return false;
  try {
    return (await openSource(source, { etag, ...limits })).status === 'unchanged';
  } catch (error) {
    // The thread tries the mirrors.
    if (error instanceof CatalogueError) return false;
    throw error;
  }
}

/** A list with less than this share of the last accepted one is taken for an error of its source. */
const MIN_SHARE = 0.5;
/** A list that has grown beyond this may be in the wrong hands, or another list. */
const MAX_SHARE = 4;

/**
 * Why a list must not replace the last accepted one; null when it may.
 * @param count domains in the list.
 * @param lastCount domains in the last accepted list; null: there is none, or the list need not be like it.
 * @param common domains that both have; null: it is not known.
 * @returns `isHeld`: somebody may accept the list.
 */
export function rejectionOf(
  count: number,
  lastCount: number | null,
  common: number | null,
): { readonly problem: string; readonly isHeld: boolean } | null {
  if (count === 0) return { problem: 'lists no domain', isHeld: false };
  if (lastCount === null || lastCount === 0) return null;
  if (count >= lastCount * MIN_SHARE && count <= lastCount * MAX_SHARE) return null;
  const than = count < lastCount ? 'less than half of' : 'more than four times';
  const difference =
    common === null ? '' : `: ${count - common} are new, ${lastCount - common} are gone`;
  const problem = `lists ${count} domains, ${than} the ${lastCount} before${difference}; the last list stays in force`;
  return { problem, isHeld: true };
}

const FIRST_RETRY_DELAY_MS = 30_000;
const MAX_RETRY_DELAY_MS = 3_600_000;

/**
 * Whether a URL is to be requested now. After a failure the delay is 30 s and doubles with each further failure, up to
 * an hour, and never exceeds the refresh interval of the source. A URL without an interval lies beside a definition
 * that is itself a URL: it is requested together with the definition. A pinned list is not requested again: it cannot
 * change.
 */
export function isDue(
  source: SourceDefinition,
  state: SourceState | undefined,
  neverBlock: readonly string[],
): boolean {
  const { format, refreshMs, sha256 } = source;
  if (state === undefined) return true;
  // A time to come was that of a wrong clock. The record may be a little younger than the question.
  const sinceMs = state.secondsSinceAttempt < -60 ? Infinity : state.secondsSinceAttempt * 1000;
  if (state.failures === 0) {
    const wasReadSo = state.format === format && state.readWith === readWith(source, neverBlock);
    return !wasReadSo || (sha256 === null && sinceMs >= (refreshMs ?? 0));
  }
  const retryDelayMs = FIRST_RETRY_DELAY_MS * 2 ** (state.failures - 1);
  return sinceMs >= Math.min(retryDelayMs, MAX_RETRY_DELAY_MS, refreshMs ?? FIRST_RETRY_DELAY_MS);
}

/**
 * What a list is compared with when it is read, as a digest; empty: nothing. A list that was compared with something
 * else is read again, whether it has changed or not.
 */
export function readWith(
  { sha256 }: Pick<SourceDefinition, 'sha256'>,
  neverBlock: readonly string[],
): string {
  if (sha256 === null && neverBlock.length === 0) return '';
  return hash('sha256', JSON.stringify([sha256, neverBlock.toSorted()]));
}
