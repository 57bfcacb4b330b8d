import { RowError } from '@weir/config-model';
import type { Middleware, Request } from '../routing/http.js';
import { type BodyLimits, streamBody } from './body-stream.js';
import type { HeldBodies } from './held-bodies.js';
import { JsonSize } from './json-size.js';
import { parseJson } from './parse-json.js';

/**
 * Reads and parses a body as a whole. Invalid JSON is reported later, together with all other faults. JSON that would
 * take long to parse is not parsed. A body counts among the held ones until its request has been answered.
 */
export function parseBody(
  isParsed: (request: Request) => boolean,
  limits: BodyLimits,
  bodies: HeldBodies,
): Middleware {
  return (request, response, next) => {
    if (!isParsed(request)) {
      next();
      return;
    }
    const { body, release } = bodies.open(streamBody(request, limits));
    response.once('close', release);
    readWhole(body)
      .then((bytes) => (bytes === null ? ({ state: 'tooLarge' } as const) : parse(bytes)))
      .then((body) => {
        request.context.body = body;
        next();
      }, next);
  };
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

async function parse(bytes: Uint8Array): Promise<Request['context']['body']> {
  try {
    return { state: 'json', value: await parseJson(bytes) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RowError) return { state: 'invalid' };
    throw error;
  }
}
