import type { ByteStream } from './list-limits.js';

/**
 * Reads the first bytes of a stream without consuming them.
 * @returns `head`: at least `count` bytes unless the stream is shorter. `whole`: the stream from its beginning; read
 *   it or `close` it.
 */
export async function peek(
  stream: ByteStream,
  count: number,
): Promise<{ head: Uint8Array; whole: AsyncGenerator<Uint8Array> }> {
  const chunks = stream[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < count) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return { head, whole: joined(head, chunks) };
}

async function* joined(
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}

/** Closes a stream that is not read. A generator that was never started would not close its source. */
export async function close(whole: AsyncGenerator<Uint8Array>): Promise<void> {
  await whole.next();
  await whole.return(undefined);
}
