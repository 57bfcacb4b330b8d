import { ENTITY_KINDS, KEY_LENGTHS } from '@weir/config-model';
import { Worker } from 'node:worker_threads';
import type { MergeOrder, MergeReply } from './merge-program.js';

// As `FileThread`: tests run the source.
const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? './merge-program.ts' : './merge-program.js',
  import.meta.url,
);
const KINDS = ENTITY_KINDS.map((name) => ({ name, keyLength: KEY_LENGTHS[name] }));

export class MergeError extends Error {
  /** @param isUnusable the files that were to be merged are damaged or gone. */
  constructor(
    message: string,
    readonly isUnusable: boolean,
  ) {
    super(message);
  }
}

/**
 * Merges a snapshot file and its journal into a new snapshot file, on a thread of its own with low priority. It ends
 * by itself, or when the signal aborts it; a disk that hangs is waited for by that thread only.
 * @returns the revision of the new file. @throws Error when there is none.
 */
export async function mergeOnThread(
  files: Omit<MergeOrder, 'kinds'>,
  signal: AbortSignal,
): Promise<number> {
  const merge: MergeOrder = { ...files, kinds: KINDS };
  const thread = new Worker(PROGRAM, { execArgv: [], workerData: { merge } });
  thread.unref();
  const { promise, resolve, reject } = Promise.withResolvers<MergeReply>();
  const abort = (): void => {
    void thread.terminate();
    reject(new Error('the merge was given up'));
  };
  thread.on('message', resolve);
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error('the merge has ended without a result')));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const reply = await promise;
    if ('error' in reply) throw new MergeError(reply.error, reply.isUnusable);
    return reply.revision;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
