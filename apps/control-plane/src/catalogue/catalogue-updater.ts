import { CatalogueError, type Definition, sourcesOf } from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import {
  DatabaseMismatchError,
  isDatabaseUnreachable,
} from '../platform/database/database-errors.js';
import type { Job } from '../platform/jobs/job.js';
import type { CatalogueActivation } from './activate/catalogue-activation.js';
import { type CatalogueInputs, collectInputs, compileInputs } from './compile/catalogue-inputs.js';
import { isDue } from './sources/source-due.js';
import type { SourceRefresh } from './sources/source-refresh.js';
import { readActiveInputsSha256 } from './store/catalogue-store.js';
import { recordDefinition } from './store/definition-store.js';
import { readStates, recordFailure, recordNamed, recordUnchanged } from './store/source-store.js';
import { type DefinitionTask, readDefinitionInThread } from './worker/worker-thread.js';

export interface CatalogueUpdaterOptions {
  readonly definition: DefinitionTask;
  readonly key: HashKey;
  readonly pool: Pool;
  readonly sources: SourceRefresh;
  readonly activation: CatalogueActivation;
  /** Throws when this process must not change the database. Lists under another hash key would block nothing. */
  readonly admit: () => Promise<void>;
  readonly log: Logger;
}

/** URLs that are requested at the same time. */
const CONCURRENT_REQUESTS = 4;
/** Delay before another attempt when the database could not be used at the start. */
const RETRY_MS = 2_000;
/** Stands for the whole definition among the sources: in metrics and in the table of sources. */
const DEFINITION = 'catalogue.yaml';

/** Keeps the catalogue in force up to date with its definition and sources. */
export class CatalogueUpdater {
  private readonly stopping = new AbortController();
  private retry: NodeJS.Timeout | undefined;
  /** What `start` waits for, as it was logged. */
  private loggedWait = '';
  private failed: { readonly inputsSha256: string; readonly error: CatalogueError } | null = null;

  constructor(private readonly options: CatalogueUpdaterOptions) {}

  /**
   * Activates what is available without requesting a URL: the definition, its files, and the last accepted lists. When
   * the database is unreachable, or does not fit this process, this returns and tries again in the background.
   */
  async start(): Promise<void> {
    const { log } = this.options;
    try {
      await this.update(this.stopping.signal);
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      if (!(isDatabaseUnreachable(error) || error instanceof DatabaseMismatchError)) {
        log.error({ err: error }, 'the catalogue cannot be updated');
        return;
      }
      const reason = String(error);
      if (reason !== this.loggedWait) log.warn({ reason }, 'the catalogue waits for the database');
      this.loggedWait = reason;
      this.retry = setTimeout(() => void this.start(), RETRY_MS);
    }
  }

  /**
   * The jobs that keep the catalogue up to date. There are two, so that a slow URL does not delay changes of the
   * definition and its files. A failed run is not retried: the next one follows soon, and each source has its own retry
   * delay.
   */
  jobs(everyMs: number): Job[] {
    const schedule = { everyMs, attempts: 1, firstRetryDelayMs: everyMs, isQueued: true };
    return [
      { name: 'catalogue-look', ...schedule, run: (signal) => this.update(signal) },
      { name: 'catalogue-sources', ...schedule, run: (signal) => this.refreshUrls(signal) },
    ];
  }

  stop(): void {
    this.stopping.abort(new Error('the control plane stops'));
    clearTimeout(this.retry);
  }

  /** Reads the definition and its files, and activates a new image when they or the stored lists have changed. */
  async update(signal: AbortSignal): Promise<void> {
    const { definition, pool, admit } = this.options;
    await admit();
    try {
      await this.apply(await readDefinitionInThread(definition, signal), signal);
      await recordUnchanged(pool, { name: DEFINITION, etag: null, lastModified: null });
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      await this.reportProblem(error.message);
    }
  }

  /** Requests the URLs that are due. The next `update` activates the new lists. */
  async refreshUrls(signal: AbortSignal): Promise<void> {
    const { definition: task, admit } = this.options;
    await admit();
    const definition = await readDefinitionInThread(task, signal).catch(nullWhenUnusable);
    if (definition === null) return;
    const states = await readStates(this.options.pool);
    const due = sourcesOf(definition)
      .filter(
        (source) =>
          'url' in source.location && isDue(source, states.get(source.name), definition.neverBlock),
      )
      .values();
    const refreshNext = async (): Promise<void> => {
      for (const source of due) {
        await this.options.sources.refresh(source, states.get(source.name), definition, signal);
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: CONCURRENT_REQUESTS }, refreshNext));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  private async apply(definition: Definition, signal: AbortSignal): Promise<void> {
    const { pool, sources } = this.options;
    const states = await readStates(pool);
    const named = sourcesOf(definition);
    for (const source of named) {
      const isFile = 'path' in source.location;
      if (isFile) await sources.refresh(source, states.get(source.name), definition, signal);
    }
    await this.activate(collectInputs(definition, await readStates(pool)), signal);
    await recordDefinition(pool, definition, this.options.key);
    await recordNamed(pool, [DEFINITION, ...named.map(({ name }) => name)]);
  }

  /**
   * Does nothing when the inputs are those of the image in force. Inputs that failed to compile are not compiled again.
   */
  private async activate(inputs: CatalogueInputs, signal: AbortSignal): Promise<void> {
    const { pool, activation } = this.options;
    if (inputs.sha256 === (await readActiveInputsSha256(pool))) return;
    if (inputs.sha256 === this.failed?.inputsSha256) throw this.failed.error;
    const compiled = await compileInputs(inputs, this.options, signal).catch((problem: unknown) => {
      if (!(problem instanceof CatalogueError)) throw problem;
      const error = new CatalogueError(`it cannot be compiled: ${problem.message}`);
      this.failed = { inputsSha256: inputs.sha256, error };
      throw error;
    });
    await activation.activate(compiled, inputs.sha256);
  }

  /** Logs a problem when it is new or has changed. The image in force stays. */
  private async reportProblem(problem: string): Promise<void> {
    const { pool, log } = this.options;
    const before = (await readStates(pool)).get(DEFINITION);
    if (before?.lastError !== problem) log.error({ problem }, 'the catalogue cannot be updated');
    await recordFailure(pool, DEFINITION, problem);
  }
}

/** `update` reports what is wrong with the definition. */
function nullWhenUnusable(error: unknown): null {
  if (error instanceof CatalogueError) return null;
  throw error;
}
