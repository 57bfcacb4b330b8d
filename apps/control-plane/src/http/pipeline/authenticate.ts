import type { Logger } from '@weir/ops';
import { RequestError } from '../errors/errors.js';
import type { Middleware, Response } from '../routing/http.js';
import type { RequestSource } from '../routing/request-context.js';
import type { FailedAttempts } from '../callers/failed-attempts.js';
import { checkToken } from '../callers/tokens.js';
import type { Token } from '../callers/tokens-file.js';

export interface AuthenticationOptions {
  /** The tokens at the moment. */
  readonly tokens: () => readonly Token[];
  readonly attempts: FailedAttempts;
  readonly log: Pick<Logger, 'warn'>;
}

/** Delayed answers at a time. Each holds a connection; further ones are not delayed. */
const MAX_DELAYED = 1_000;

/**
 * Finds the caller of a request. It is a middleware and no guard of Nest, because an unknown path must be 401 without a
 * token (decisions §8). All bad credentials get the same answer, later and later. Good ones never wait, so that nobody
 * can lock out another client behind the same address.
 */
export function authenticate({ tokens, attempts, log }: AuthenticationOptions): Middleware {
  let delayed = 0;
  return (request, response, next) => {
    const { source } = request.context;
    const { authorization } = request.headers;
    const check = checkToken(tokens(), authorization, source?.address ?? null, Date.now());
    if (check.caller !== null) {
      request.context.caller = check.caller;
      next();
      return;
    }
    const refusal = new RequestError('notAuthenticated', undefined, {
      'WWW-Authenticate': 'Bearer',
    });
    if (check.isMissing) throw refusal;
    const { count, delayMs } = attempts.add(keyOf(source), performance.now());
    // The 1st, 10th, 100th …: an attack must not fill the log.
    if (Number.isInteger(Math.log10(count))) {
      log.warn({ source: source?.text, failures: count, reason: check.why }, 'bad credentials');
    }
    if (delayMs === 0 || delayed >= MAX_DELAYED) throw refusal;
    delayed++;
    afterDelay(response, delayMs, (isOpen) => {
      delayed--;
      if (isOpen) next(refusal);
    });
  };
}

/** @param resume gets false when the client has gone. */
function afterDelay(response: Response, delayMs: number, resume: (isOpen: boolean) => void): void {
  const onClose = (): void => {
    clearTimeout(timer);
    resume(false);
  };
  const timer = setTimeout(() => {
    response.off('close', onClose);
    resume(true);
  }, delayMs);
  response.once('close', onClose);
}

/** An IPv4 address, or the /64 of an IPv6 address, which one client can have as a whole. */
function keyOf(source: RequestSource | null): string {
  if (source === null) return '';
  const { family, words } = source.address;
  return family === 4 ? String(words[0]) : `${words[0]}:${words[1]}`;
}
