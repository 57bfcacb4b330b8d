import { RowError } from '@weir/config-model';

/** Longest line of a snapshot in characters. A line of a thousand profiles with many rules is far shorter. */
const MAX_LINE_CHARACTERS = 64 * 1024 * 1024;

/**
 * The lines of a UTF-8 text, without their line feeds.
 * @throws RowError when the text is not UTF-8, a line is too long, or the last line has no line feed.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decode(decoder, chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARACTERS) throw new RowError('a line is too long');
    yield* lines;
  }
  if (rest !== '') throw new RowError('a text that ends within a line');
}

function decode(decoder: TextDecoder, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw new RowError('not UTF-8', { cause: error });
  }
}
