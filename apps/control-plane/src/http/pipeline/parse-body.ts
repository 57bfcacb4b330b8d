import { RowError } from '@weir/config-model';
import type { SentBody } from '../routing/request-shape.js';
import { JsonSize } from './json-size.js';
import { parseJson } from '../../platform/parse-json.js';

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

async function parse(bytes: Uint8Array): Promise<SentBody> {
  try {
    return { state: 'json', value: await parseJson(bytes) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RowError) return { state: 'invalid' };
    throw error;
  }
}
