import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a worker thread. It runs compiled code, also in tests, which themselves run from the sources. It gets no
 * arguments of this process: in tests they contain a condition that resolves packages to their sources.
 * @param caller URL of the calling module. @param entry the module of the thread, relative to it.
 */
export function startThread(caller: string, entry: string, options: WorkerOptions): Worker {
  const compiled = caller.replace(/^(.*)\/src\/(.*)\.ts$/, '$1/dist/$2.js');
  return new Worker(new URL(entry, compiled), { ...options, execArgv: [] });
}
