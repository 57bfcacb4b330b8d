import { Worker } from 'node:worker_threads';
import { CatalogueError, type CompiledCatalogue, type DigestedDefinition } from '@weir/catalogue';
import type { CompileTask } from './compile-groups.js';
import type { ReadOutcome, ReadTask } from './read-source.js';

/** Which definition is read. */
export interface DefinitionTask {
  /** Folder of the definition, or the http(s) URL of one. */
  readonly location: string;
  /** Names of sets that are on besides those that it includes. */
  readonly sets: readonly string[];
}

export type ThreadTask =
  | { readonly kind: 'definition'; readonly input: DefinitionTask }
  | { readonly kind: 'read'; readonly input: ReadTask }
  | { readonly kind: 'compile'; readonly input: CompileTask };

/** What the thread answers. A problem is that of a CatalogueError. */
export type ThreadReply = { readonly result: unknown } | { readonly problem: string };

// A worker thread runs compiled code. Tests run from the sources, but their worker threads do so too.
const ENTRY = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/catalogue/worker/worker-entry.js'
    : './worker-entry.js',
  import.meta.url,
);

/**
 * Reads a definition in a worker thread: its YAML takes hundreds of milliseconds to parse.
 * @throws CatalogueError, one line, when it cannot be used.
 */
export function readDefinitionInThread(
  input: DefinitionTask,
  signal: AbortSignal,
): Promise<DigestedDefinition> {
  return run({ kind: 'definition', input }, [], signal);
}

/**
 * Runs `readSource` in a worker thread: parsing millions of lines does not delay requests. The list before is
 * transferred: the caller cannot use it afterwards.
 */
export function readInThread(input: ReadTask, signal: AbortSignal): Promise<ReadOutcome> {
  const { names, places } = input.before ?? {};
  const buffers = [names, places].flatMap((bytes) => bytes?.buffer ?? []);
  return run({ kind: 'read', input }, buffers as ArrayBuffer[], signal);
}

/** Runs `compileGroups` in a worker thread. The lists are transferred: the caller cannot use them afterwards. */
export function compileInThread(
  input: CompileTask,
  signal: AbortSignal,
): Promise<CompiledCatalogue> {
  const buffers = input.lists.map(({ buffer }) => buffer as ArrayBuffer);
  return run({ kind: 'compile', input }, buffers, signal);
}

/** @throws CatalogueError, one line, when the task has thrown one. */
async function run<T>(
  task: ThreadTask,
  transferList: ArrayBuffer[],
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  // No arguments of this process: in tests they contain a condition that resolves packages to their sources.
  const thread = new Worker(ENTRY, { workerData: task, transferList, execArgv: [] });
  const end = (): void => void thread.terminate();
  signal.addEventListener('abort', end, { once: true });
  try {
    const reply = await new Promise<ThreadReply>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => {
        reject(
          signal.aborted ? (signal.reason as Error) : new Error('the worker thread ended early'),
        );
      });
    });
    if ('problem' in reply) throw new CatalogueError(reply.problem);
    return reply.result as T;
  } finally {
    signal.removeEventListener('abort', end);
    // The outcome has arrived. This ends whatever the task left open.
    await thread.terminate();
  }
}
