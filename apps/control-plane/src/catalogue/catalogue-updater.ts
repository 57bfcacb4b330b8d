import {
  CatalogueError,
  type CompiledCatalogue,
  type Definition,
  type SourceDefinition,
  sourcesOf,
} from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import {
  DatabaseMismatchError,
  isDatabaseUnreachable,
} from '../platform/database/database-errors.js';
import type { Database } from '../platform/database/database.js';
import type { Job } from '../platform/jobs/job-scheduler.js';
import { actAs } from '../revisions/change-record.js';
import type { ConfigurationWriter } from '../revisions/configuration-writer.js';
import { isDue, type SourceRefresh } from './sources/source-refresh.js';
import {
  deleteOldImages,
  findRulesWithoutApplication,
  putInForce,
  readInForce,
  storeImage,
} from './store/catalogue-store.js';
import { recordDefinition } from './store/definition-store.js';
import {
  readBytes,
  readStates,
  recordFailure,
  recordNamed,
  recordUnchanged,
} from './store/source-store.js';
import { type CatalogueInputs, collectInputs } from './worker/compile-groups.js';
import type { DefinitionReader } from './worker/definition-reader.js';
import { runInThread } from './worker/worker-thread.js';

export interface CatalogueUpdaterOptions {
  readonly definition: DefinitionReader;
  readonly key: HashKey;
  readonly database: Database;
  readonly writer: ConfigurationWriter;
  readonly sources: SourceRefresh;
  /** Throws when this process must not change the database. Lists under another hash key would block nothing. */
  readonly admit: () => Promise<void>;
  readonly log: Logger;
}

/** URLs that are requested at the same time. */
const CONCURRENT_REQUESTS = 4;
/** Delay before another attempt when the database could not be used at the start. */
const RETRY_MS = 2_000;
/** Application ids, or domains, in one log line, at most. */
const MAX_REPORTED = 20;
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
   * Activates what needs no request of a URL: the definition, its files, and the last accepted lists. When the database
   * is unreachable, or does not fit this process, this returns and tries again in the background.
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
   * The jobs that keep the catalogue up to date: two, so that a slow URL does not delay changes of the definition and
   * its files. Each source has its own retry delay.
   */
  jobs(everyMs: number): Job[] {
    const schedule = { everyMs, isQueued: true };
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
    const { definition, database, admit } = this.options;
    await admit();
    try {
      await this.apply(await definition.read(signal), signal);
      const state = { etag: null, lastModified: null, namesSha256: null };
      await recordUnchanged(database.pool, { name: DEFINITION, ...state });
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      await this.reportProblem(error.message);
    }
  }

  /** Requests the URLs that are due, for the next `update`. @throws the first error, when all were requested. */
  async refreshUrls(signal: AbortSignal): Promise<void> {
    const { admit, database, definition: reader, sources } = this.options;
    await admit();
    const definition = await reader.read(signal).catch(nullWhenUnusable);
    if (definition === null) return;
    const states = await readStates(database.pool);
    const isDueNow = (source: SourceDefinition): boolean =>
      'url' in source.location && isDue(source, states.get(source.name), definition.neverBlock);
    const due = sourcesOf(definition).filter(isDueNow).values();
    const errors: unknown[] = [];
    const refreshNext = async (): Promise<void> => {
      for (const source of due) {
        await sources
          .refresh(source, states.get(source.name), definition, signal)
          .catch((error: unknown) => errors.push(error));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, refreshNext));
    for (const error of errors) throw error;
  }

  private async apply(definition: Definition, signal: AbortSignal): Promise<void> {
    const { database, sources, key } = this.options;
    const { pool } = database;
    const states = await readStates(pool);
    const named = sourcesOf(definition);
    for (const source of named) {
      const isFile = 'path' in source.location;
      if (isFile) await sources.refresh(source, states.get(source.name), definition, signal);
    }
    await this.compile(collectInputs(definition, await readStates(pool)), signal);
    await recordDefinition(pool, definition, key);
    await recordNamed(pool, [DEFINITION, ...named.map(({ name }) => name)]);
  }

  /** Compiles and activates an image of new inputs. Inputs that failed to compile are not compiled again. */
  private async compile(inputs: CatalogueInputs, signal: AbortSignal): Promise<void> {
    const { database, key, log } = this.options;
    const { pool } = database;
    if (inputs.sha256 === (await readInForce(pool)).inputsSha256) return;
    if (inputs.sha256 === this.failed?.inputsSha256) throw this.failed.error;
    const startedMs = performance.now();
    const { categories, applications, neverListed } = inputs;
    const lists: Uint8Array[] = [];
    const protectedNames: Uint8Array[] = [];
    for (const state of inputs.lists) {
      lists.push(await readBytes(pool, 'names', state));
      protectedNames.push(await readBytes(pool, 'protected', state));
    }
    const task = { categories, applications, lists, protectedNames, neverListed, key };
    const compiling = runInThread('compile', task, signal, lists);
    const compiled = await compiling.catch((problem: unknown) => {
      if (!(problem instanceof CatalogueError)) throw problem;
      const error = new CatalogueError(`it cannot be compiled: ${problem.message}`);
      this.failed = { inputsSha256: inputs.sha256, error };
      throw error;
    });
    const durationMs = Math.round(performance.now() - startedMs);
    log.info({ sizeBytes: compiled.image.length, durationMs }, 'catalogue compiled');
    await this.activate(compiled, inputs.sha256);
  }

  /** Puts an image in force by a change, unless it is. When several replicas try at once, one of them does. */
  private async activate(compiled: CompiledCatalogue, inputsSha256: string): Promise<void> {
    const { database, writer, log } = this.options;
    await storeImage(database.pool, compiled, inputsSha256);
    const active = await actAs({ origin: 'catalogue' }, () =>
      writer.writeAlone((client) => putInForce(client, compiled.sha256)),
    );
    if (active === null) return;
    // Outside of the change, because it deletes thousands of rows and no other change should wait for that.
    await deleteOldImages(database.pool);
    log.info({ ...active.result, revision: active.revision }, 'catalogue active');
    for (const { categoryId: category, count, domains } of compiled.popular) {
      const fields = { category, count, examples: domains.slice(0, MAX_REPORTED) };
      log.warn(fields, 'a category blocks well-known domains');
    }
    await this.reportRulesWithoutApplication(compiled.applications.map(({ id }) => id));
  }

  /** Warns of rules whose application is not in the catalogue. They are kept, because the application may return. */
  private async reportRulesWithoutApplication(known: readonly number[]): Promise<void> {
    const idle = await findRulesWithoutApplication(this.options.database.pool, known);
    if (idle.length === 0) return;
    const fields = {
      applications: idle.slice(0, MAX_REPORTED).map(({ applicationId }) => applicationId),
      applicationCount: idle.length,
      ruleCount: idle.reduce((sum, { rules }) => sum + rules, 0),
    };
    const message = 'some rules have no effect: the catalogue does not have their applications';
    this.options.log.warn(fields, message);
  }

  /** Logs a problem when it is new or has changed. The image in force stays. */
  private async reportProblem(problem: string): Promise<void> {
    const { database, log } = this.options;
    const before = (await readStates(database.pool)).get(DEFINITION);
    if (before?.lastError !== problem) log.error({ problem }, 'the catalogue cannot be updated');
    await recordFailure(database.pool, DEFINITION, problem);
  }
}

/** `update` reports what is wrong with the definition. */
function nullWhenUnusable(error: unknown): null {
  if (error instanceof CatalogueError) return null;
  throw error;
}
