import type { HashKey } from '@weir/dns-name';
import type { Logger } from '@weir/ops';
import type { Pool } from 'pg';
import { readNames, readProtectedNames } from '../store/source-store.js';
import type { CompileOutcome } from '../worker/compile-groups.js';
import { compileInThread } from '../worker/worker-thread.js';
import type { CatalogueInputs } from './catalogue-inputs.js';

export interface CompileOptions {
  readonly pool: Pool;
  readonly key: HashKey;
  readonly log: Logger;
}

/**
 * Loads the stored lists and compiles the image in a worker thread.
 * @throws the reason of `signal` when it is aborted.
 */
export async function compileInputs(
  { lists: states, ...inputs }: CatalogueInputs,
  { pool, key, log }: CompileOptions,
  signal: AbortSignal,
): Promise<CompileOutcome> {
  const startedMs = performance.now();
  const lists: Uint8Array[] = [];
  const protectedNames: Uint8Array[] = [];
  for (const state of states) {
    lists.push(await readNames(pool, state));
    protectedNames.push(await readProtectedNames(pool, state));
  }
  const { categories, applications, neverListed } = inputs;
  const outcome = await compileInThread(
    { categories, applications, lists, protectedNames, neverListed, key },
    signal,
  );
  const durationMs = Math.round(performance.now() - startedMs);
  if (outcome.status === 'compiled') {
    log.info({ sizeBytes: outcome.compiled.image.length, durationMs }, 'catalogue compiled');
  }
  return outcome;
}
