import { rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes a file that only its owner may read. It is complete or it does not exist, even after a power failure.
 * @param signal aborts the work; its reason is thrown.
 */
export async function writeStreamAtomically(
  path: string,
  pieces: AsyncIterable<string | Buffer>,
  through: Transform,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = `${path}.new-${process.pid}`;
  const file = await open(unfinished, 'wx', 0o600);
  try {
    const source = Readable.from(pieces, { objectMode: false });
    await pipeline(source, through, file.createWriteStream({ flush: true }), { signal });
    await rename(unfinished, path);
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    rmSync(unfinished, { force: true });
    signal.throwIfAborted();
    throw error;
  }
}
