import type { SentBody } from '../routing/request-shape.js';
import { JsonSize } from './json-size.js';

/** JSON must be UTF-8 (RFC 8259 §8.1). A byte order mark is skipped. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses a body as a whole. Invalid JSON is reported later, together with all other faults. JSON that would
 * take long to parse is not parsed.
 */
export async function parseBody(body: AsyncIterable<Uint8Array>): Promise<SentBody> {
  const bytes = await readWhole(body);
  return bytes === null ? { state: 'tooLarge' } : parse(bytes);
}

/** @returns null when it is too large to be parsed. */
async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const size = new JsonSize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) {
    size.push(chunk);
    if (size.isTooLarge) chunks.length = 0;
    else chunks.push(chunk);
  }
  if (size.isTooLarge) return null;
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

function parse(bytes: Uint8Array): SentBody {
  try {
    return { state: 'json', value: JSON.parse(decoder.decode(bytes)) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return { state: 'invalid' };
    throw error;
  }
}
