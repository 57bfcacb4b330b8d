import { Worker } from 'node:worker_threads';
import type { BuildMessage, BuildTask, BuiltImage } from './build-thread.js';

// A thread does not read TypeScript as tests do, so they run the compiled program.
const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/delta/build-thread.js' : './build-thread.js',
  import.meta.url,
);

/**
 * Builds an image of another one and the bytes of a delta, in a thread of its own with low priority.
 * @param room as many zeros as the image has bytes. @param signal gives it up; its reason is thrown.
 * @throws Error when the base or the delta is not one; what `delta` throws.
 */
export async function buildImage(
  base: Uint8Array,
  delta: AsyncIterable<Uint8Array>,
  room: Uint8Array,
  signal?: AbortSignal,
): Promise<BuiltImage> {
  signal?.throwIfAborted();
  const task: BuildTask = { base, room };
  // No arguments of this process: in tests they contain a condition that resolves packages to their sources.
  const thread = new Worker(PROGRAM, { workerData: task, execArgv: [] });
  const { promise: built, resolve, reject } = Promise.withResolvers<BuiltImage>();
  const giveUp = (): void => reject(signal?.reason as Error);
  thread.once('message', resolve);
  thread.once('error', reject);
  thread.once('exit', () => reject(new Error('the thread that builds an image has ended')));
  signal?.addEventListener('abort', giveUp, { once: true });
  let hasEnded = false;
  try {
    await Promise.race([built, send(delta, thread, () => hasEnded)]);
    return await built;
  } finally {
    hasEnded = true;
    signal?.removeEventListener('abort', giveUp);
    built.catch(() => undefined);
    await thread.terminate();
  }
}

/** @param hasEnded the thread has ended: nothing more is read. */
async function send(
  delta: AsyncIterable<Uint8Array>,
  thread: Worker,
  hasEnded: () => boolean,
): Promise<void> {
  const post = (message: BuildMessage): void => {
    thread.postMessage(message, message === null ? [] : [message.buffer]);
  };
  // A copy, because a piece may share its memory with others.
  for await (const piece of delta) {
    if (hasEnded()) return;
    post(new Uint8Array(piece));
  }
  post(null);
}
