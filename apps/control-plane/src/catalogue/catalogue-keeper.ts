import { CatalogueError, type Definition, readDefinition, sourcesOf } from '@weir/catalogue';
import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import { isDatabaseUnreachable } from '../platform/database/database-faults.js';
import type { CatalogueActivation } from './activate/catalogue-activation.js';
import { type CatalogueInputs, inputsOf } from './compile/catalogue-inputs.js';
import { activeInputs } from './store/catalogue-store.js';
import type { CompileOutcome } from './worker/catalogue-tasks.js';
import { compileInThread } from './worker/catalogue-thread.js';
import { isDue } from './sources/source-due.js';
import type { SourceRefresh } from './sources/source-refresh.js';
import {
  noteFailure,
  noteNamed,
  noteUnchanged,
  readNames,
  readStates,
} from './store/source-store.js';

export interface CatalogueKeeperOptions {
  /** Folder of the definition, or the http(s) URL of one. */
  readonly place: string;
  readonly key: HashKey;
  readonly pool: Pool;
  readonly sources: SourceRefresh;
  readonly activation: CatalogueActivation;
  readonly log: Logger;
}

/** URLs that are asked at the same time. */
const LANES = 4;
/** After a start without the database. */
const RETRY_MS = 2_000;
/** Names the whole among the sources: whether what it says is in force. */
const DEFINITION = 'catalogue.yaml';

/** Keeps the catalogue in force what its definition and the sources say. */
export class CatalogueKeeper {
  private readonly stopping = new AbortController();
  private retry: NodeJS.Timeout | undefined;
  private failed: { readonly inputsSha256: string; readonly error: CatalogueError } | null = null;

  constructor(private readonly options: CatalogueKeeperOptions) {}

  /**
   * Puts in force what there is without asking a source that is a URL: definition, files, and the last good lists. A database out of
   * reach is tried again beside everything else.
   */
  async start(): Promise<void> {
    const { log } = this.options;
    try {
      await this.look(this.stopping.signal);
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      if (!isDatabaseUnreachable(error)) {
        log.error({ err: error }, 'the catalogue cannot be brought up to date');
        return;
      }
      log.warn({ reason: String(error) }, 'the catalogue waits for the database');
      this.retry = setTimeout(() => void this.start(), RETRY_MS);
    }
  }

  stop(): void {
    this.stopping.abort(new Error('the control plane stops'));
    clearTimeout(this.retry);
  }

  /** Looks at the definition and at the files beside it, and puts in force what has changed, there and in the lists of URLs. */
  async look(signal: AbortSignal): Promise<void> {
    const { place, pool } = this.options;
    try {
      await this.bringUpToDate(await readDefinition(place), signal);
      await noteUnchanged(pool, { name: DEFINITION, etag: null, lastModified: null });
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      await this.noteProblem(error.message);
    }
  }

  /** Asks the URLs that are due, some at a time; what comes of it is put in force by the next look. */
  async refreshUrls(signal: AbortSignal): Promise<void> {
    const definition = await readDefinition(this.options.place).catch(nullWhenUnusable);
    if (definition === null) return;
    const states = await readStates(this.options.pool);
    const due = sourcesOf(definition)
      .filter((source) => 'url' in source.location && isDue(source, states.get(source.name)))
      .values();
    const lane = async (): Promise<void> => {
      for (const source of due) {
        await this.options.sources.refresh(source, states.get(source.name), signal);
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: LANES }, lane));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  private async bringUpToDate(definition: Definition, signal: AbortSignal): Promise<void> {
    const { pool, sources } = this.options;
    const states = await readStates(pool);
    const named = sourcesOf(definition);
    for (const source of named) {
      const isFile = 'path' in source.location;
      if (isFile) await sources.refresh(source, states.get(source.name), signal);
    }
    await this.putInForce(inputsOf(definition, await readStates(pool)), signal);
    await noteNamed(pool, [DEFINITION, ...named.map(({ name }) => name)]);
  }

  /** Compiles nothing when all is as it was when the image in force was compiled, or when that failed. */
  private async putInForce(inputs: CatalogueInputs, signal: AbortSignal): Promise<void> {
    const { pool, activation } = this.options;
    if (inputs.sha256 === (await activeInputs(pool))) return;
    if (inputs.sha256 === this.failed?.inputsSha256) throw this.failed.error;
    const outcome = await this.compile(inputs, signal);
    if (outcome.status === 'failed') {
      const error = new CatalogueError(`it cannot be compiled: ${outcome.problem}`);
      this.failed = { inputsSha256: inputs.sha256, error };
      throw error;
    }
    await activation.activate(outcome.compiled, inputs.sha256);
  }

  private async compile(inputs: CatalogueInputs, signal: AbortSignal): Promise<CompileOutcome> {
    const { pool, key, log } = this.options;
    const startedMs = performance.now();
    const lists: Uint8Array[] = [];
    for (const state of inputs.lists) lists.push(await readNames(pool, state));
    const { categories, applications } = inputs;
    const outcome = await compileInThread({ categories, applications, lists, key }, signal);
    const durationMs = Math.round(performance.now() - startedMs);
    if (outcome.status === 'compiled') {
      log.info({ sizeBytes: outcome.compiled.image.length, durationMs }, 'catalogue compiled');
    }
    return outcome;
  }

  /** Said once for as long as it stays the same; what is in force stays. */
  private async noteProblem(problem: string): Promise<void> {
    const { pool, log } = this.options;
    const before = (await readStates(pool)).get(DEFINITION);
    if (before?.lastError !== problem)
      log.error({ problem }, 'the catalogue cannot be brought up to date');
    await noteFailure(pool, DEFINITION, problem);
  }
}

/** The look tells what is wrong with it. */
function nullWhenUnusable(error: unknown): null {
  if (error instanceof CatalogueError) return null;
  throw error;
}
