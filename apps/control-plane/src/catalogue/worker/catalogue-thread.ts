import { Worker } from 'node:worker_threads';
import type { CompileOutcome, CompileTask, ReadOutcome, ReadTask } from './catalogue-tasks.js';

export type ThreadTask =
  | { readonly kind: 'read'; readonly input: ReadTask }
  | { readonly kind: 'compile'; readonly input: CompileTask };

// A thread runs compiled code, also for tests, which run from the sources.
const ENTRY = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/catalogue/worker/catalogue-thread-entry.js'
    : './catalogue-thread-entry.js',
  import.meta.url,
);

/** As `readSource`, in a thread of its own: millions of lines are parsed beside the requests. */
export function readInThread(input: ReadTask, signal: AbortSignal): Promise<ReadOutcome> {
  return run({ kind: 'read', input }, [], signal);
}

/** As `compileGroups`, in a thread of its own, which takes the lists over. */
export function compileInThread(input: CompileTask, signal: AbortSignal): Promise<CompileOutcome> {
  const buffers = input.lists.map(({ buffer }) => buffer as ArrayBuffer);
  return run({ kind: 'compile', input }, buffers, signal);
}

async function run<T>(task: ThreadTask, moved: ArrayBuffer[], signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  // Without the arguments of this process, among which tests have a condition that leads to sources.
  const thread = new Worker(ENTRY, { workerData: task, transferList: moved, execArgv: [] });
  const end = (): void => void thread.terminate();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await new Promise<T>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => {
        reject(signal.aborted ? (signal.reason as Error) : new Error('the thread ended early'));
      });
    });
  } finally {
    signal.removeEventListener('abort', end);
    // What was sent has come; whatever the task left open ends with it.
    await thread.terminate();
  }
}
