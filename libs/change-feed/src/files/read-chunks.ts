import type { FileThread } from './file-thread.js';

const CHUNK_BYTES = 1024 * 1024;

/** The bytes of a file. The next ones are read while the caller uses those before. */
export async function* readChunks(thread: FileThread, path: string): AsyncGenerator<Uint8Array> {
  const file = await thread.call('open', path);
  const read = (): Promise<Uint8Array> => {
    const chunk = thread.call('read', file, CHUNK_BYTES);
    // The caller may end before it asks for this one.
    chunk.catch(() => undefined);
    return chunk;
  };
  try {
    for (let chunk = await read(); chunk.length > 0;) {
      const next = read();
      yield chunk;
      chunk = await next;
    }
  } finally {
    // A thread that cannot do that has ended, or will end, and closes the file then.
    await thread.call('close', file).catch(() => undefined);
  }
}
