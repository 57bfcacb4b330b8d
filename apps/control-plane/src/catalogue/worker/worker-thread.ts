import { CatalogueError, type CompiledCatalogue, type DigestedDefinition } from '@weir/catalogue';
import { startThread } from '@weir/ops';
import type { CompileTask } from './compile-groups.js';
import type { ReadOutcome, ReadTask } from './read-source.js';

/** Which definition is read. */
export interface DefinitionTask {
  /** Folder of the definition, or the http(s) URL of one. */
  readonly location: string;
  /** Names of sets that are on besides those that it includes. */
  readonly sets: readonly string[];
}

/** What a thread may be asked to do. */
interface Tasks {
  readonly definition: { readonly input: DefinitionTask; readonly result: DigestedDefinition };
  readonly read: { readonly input: ReadTask; readonly result: ReadOutcome };
  readonly compile: { readonly input: CompileTask; readonly result: CompiledCatalogue };
}

export type ThreadTask = {
  readonly [K in keyof Tasks]: { readonly kind: K; readonly input: Tasks[K]['input'] };
}[keyof Tasks];

/** What the thread answers. A problem is that of a CatalogueError. */
export type ThreadReply = { readonly result: unknown } | { readonly problem: string };

/**
 * Runs a task in a worker thread, so that it delays no request: a list may have millions of lines.
 * @param transferred bytes of the input: the caller cannot use them afterwards.
 * @throws CatalogueError, one line, when the task has thrown one.
 */
export async function runInThread<K extends keyof Tasks>(
  kind: K,
  input: Tasks[K]['input'],
  signal: AbortSignal,
  transferred: readonly Uint8Array[] = [],
): Promise<Tasks[K]['result']> {
  signal.throwIfAborted();
  const thread = startThread(import.meta.url, './worker-entry.js', {
    workerData: { kind, input },
    transferList: transferred.map(({ buffer }) => buffer as ArrayBuffer),
  });
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
    return reply.result as Tasks[K]['result'];
  } finally {
    signal.removeEventListener('abort', end);
    // The outcome has arrived. This ends whatever the task left open.
    await thread.terminate();
  }
}
