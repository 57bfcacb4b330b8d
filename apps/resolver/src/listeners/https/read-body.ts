import type { Readable } from 'node:stream';

/** The result of reading a body. */
export type Body = { readonly bytes: Buffer } | 'too large' | 'broken off';

/** Reads at most `maxBytes` bytes. Calls `done` once. The rest of a body that is too large stays unread. */
export function readBody(stream: Readable, maxBytes: number, done: (body: Body) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = (body: Body): void => {
    stream.off('data', onData).off('end', onEnd).off('close', onClose);
    done(body);
  };
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= maxBytes) return;
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
