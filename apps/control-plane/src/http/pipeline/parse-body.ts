import { RowError } from '@weir/config-model';
import type { SentBody } from '../routing/request-shape.js';
import { BodyBlocks } from './body-blocks.js';
import { JsonSize } from './json-size.js';
import { parseJson } from '../../platform/parse-json.js';
import { Yielder } from '../../platform/yielder.js';

/** Many chunks may arrive in one turn of the event loop. Those of a shorter body wait for nobody. */
const LONG_BYTES = 65_536;

/**
 * Reads and parses a body as a whole. Invalid JSON is reported later, together with all other faults. JSON that would
 * take long to parse is not parsed.
 */
export async function parseBody(body: AsyncIterable<Uint8Array>): Promise<SentBody> {
  const bytes = await readWhole(body);
  return bytes === null ? { state: 'tooLarge' } : parse(bytes);
}

/** @returns null when it is too large to be parsed. Then the rest is not read. */
async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const size = new JsonSize();
  const yielder = new Yielder();
  const blocks = new BodyBlocks();
  for await (const chunk of body) {
    if (blocks.length > LONG_BYTES) await yielder.yieldIfDue();
    size.push(chunk);
    if (size.isTooLarge) return null;
    blocks.append(chunk);
  }
  return blocks.whole();
}

async function parse(bytes: Uint8Array): Promise<SentBody> {
  try {
    return { state: 'json', value: await parseJson(bytes) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RowError) return { state: 'invalid' };
    throw error;
  }
}
