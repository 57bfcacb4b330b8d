import type { IncomingMessage } from 'node:http';
import { BodyFraming } from '../../platform/body-framing.js';

/** As long as the longest body that is parsed whole, so that all of its clients get their response. */
const MAX_REST_BYTES = 16 * 2 ** 20;
/** Longest pause of a client that sends. */
const PATIENCE_MS = 2_000;
/** Before each of the next chunks: what is thrown away must not take the processor from others. */
const PAUSE_MS = 5;

/**
 * Reads what is left of the body of an answered request, and throws it away: a client that sends until its connection
 * is closed could lose the response. It is read slowly. A long rest, one that does not come, or one that is mostly
 * framing ends the connection.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  const end = (): void => {
    request.socket.destroy();
  };
  const timer = setTimeout(end, PATIENCE_MS);
  let bytes = 0;
  const framing = new BodyFraming(request);
  request.on('data', (chunk: Buffer) => {
    timer.refresh();
    bytes += chunk.length;
    if (bytes > MAX_REST_BYTES || framing.isExcessive(chunk.length)) return end();
    request.pause();
    setTimeout(() => request.resume(), PAUSE_MS);
  });
  request.once('close', () => {
    clearTimeout(timer);
  });
  request.resume();
}
