import type { Next, Request, Response } from '../routing/http.js';

/** JSON must be UTF-8 (RFC 8259 §8.1). A byte order mark is skipped. */
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses the bytes of the body. Invalid JSON is reported later, together with all other faults. */
export function parseBody(request: Request, _response: Response, next: Next): void {
  const bytes: unknown = request.body;
  if (bytes instanceof Uint8Array) request.context.body = parse(bytes);
  request.body = undefined;
  next();
}

function parse(bytes: Uint8Array): Request['context']['body'] {
  try {
    return { state: 'json', value: JSON.parse(decoder.decode(bytes)) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return { state: 'invalid' };
    throw error;
  }
}
