import type { IncomingMessage } from 'node:http';

/** As long as the longest body that is parsed whole, so that all of its clients get their response. */
const MAX_REST_BYTES = 16 * 2 ** 20;
/** Longest pause of a client that sends. */
const PAUSE_MS = 2_000;

/**
 * Reads what is left of the body of an answered request, and throws it away: a client that sends until its connection
 * is closed could lose the response. A long rest, or one that does not come, ends the connection.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return;
  const end = (): void => {
    request.socket.destroy();
  };
  const timer = setTimeout(end, PAUSE_MS);
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    timer.refresh();
    bytes += chunk.length;
    if (bytes > MAX_REST_BYTES) end();
  });
  request.once('end', () => {
    clearTimeout(timer);
  });
  request.once('close', () => {
    clearTimeout(timer);
  });
  request.resume();
}
