import type { Readable } from 'node:stream';

/** What came of reading a body. */
export type Body = { readonly bytes: Buffer } | 'too large' | 'broken off';

/** Reads at most `most` bytes. Calls `done` once; of a body that is too large the rest is left unread. */
export function readBody(stream: Readable, most: number, done: (body: Body) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = (body: Body): void => {
    stream.off('data', onData).off('end', onEnd).off('close', onClose);
    done(body);
  };
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= most) return;
    stream.pause();
    finish('too large');
  };
  const onEnd = (): void => {
    finish({ bytes: Buffer.concat(chunks) });
  };
  const onClose = (): void => {
    finish('broken off');
  };
  stream.on('data', onData).on('end', onEnd).on('close', onClose);
}
