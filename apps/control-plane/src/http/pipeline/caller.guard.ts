import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { PROCESS, type Process } from '../../process.js';
import { CallCounter, FailedAttempts, registerCallerMetrics } from '../callers/caller-limits.js';
import { includesScope } from '../callers/scope.js';
import { checkToken, type RefusedToken } from '../callers/tokens.js';
import { RequestError } from '../errors/errors.js';
import { endpointOf, Pages } from '../routing/endpoint.js';
import type { Request, RequestSource, Response } from '../routing/http.js';
import { isDryRun } from './read-request.js';

/** Delayed answers at a time. Each holds a connection; further ones are not delayed. */
const MAX_DELAYED = 1_000;

const TOO_MANY_LISTS =
  'Too many lists are being read with this token. Try again when one has ended';

/**
 * Checks a request before anything is read of its body, in the order of decisions §8: source, token, limits of the
 * token, scope. Only public pages need no token: they have no caller.
 */
@Injectable()
export class CallerGuard implements CanActivate {
  private readonly attempts = new FailedAttempts();
  private delayed = 0;
  private readonly calls: CallCounter;
  private readonly lists: CallCounter;

  constructor(
    private readonly reflector: Reflector,
    @Inject(PROCESS) private readonly process: Process,
    registry: Registry,
  ) {
    const { configuration, tokens } = process;
    const { MANAGEMENT_CALLS_PER_SECOND: perSecond } = configuration;
    this.calls = new CallCounter({ perSecond, atOnce: configuration.MANAGEMENT_CALLS_AT_ONCE });
    this.lists = new CallCounter({ perSecond, atOnce: configuration.MANAGEMENT_LISTS_AT_ONCE });
    registerCallerMetrics(registry, this.attempts, tokens);
  }

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const request = execution.switchToHttp().getRequest<Request>();
    const response = execution.switchToHttp().getResponse<Response>();
    const { context, headers } = request;
    const { source } = context;
    // Sources that are not approved learn nothing about tokens.
    const { MANAGEMENT_ALLOWED_SOURCES: allowed } = this.process.configuration;
    if (allowed && (source === null || !allowed.has(source.address))) {
      throw new RequestError('sourceNotApproved');
    }
    const { value: tokens } = this.process.tokens;
    const check = checkToken(tokens, headers.authorization, source?.address ?? null, Date.now());
    if (check.caller === null)
      return this.isPublic(execution) || this.refuse(check, source, response);
    context.caller = check.caller;
    const endpoint = endpointOf(execution.getHandler());
    const { name, scope } = check.caller;
    count(this.calls, name, response);
    // Lists leave connections for others.
    if (endpoint?.isListing) count(this.lists, name, response, TOO_MANY_LISTS);
    const needed = !endpoint || isDryRun(endpoint, request) ? 'read' : endpoint.scope;
    if (includesScope(scope, needed)) return true;
    throw new RequestError('scopeMissing', `This call needs a token with scope ${needed}`);
  }

  private isPublic(execution: ExecutionContext): boolean {
    const pages = this.reflector.get(Pages, execution.getClass());
    const { MANAGEMENT_DOCS: access } = this.process.configuration;
    return pages === 'console' || (pages === 'docs' && access === 'public');
  }

  /**
   * All bad credentials get the same answer, later and later. Good ones never wait, so that nobody can lock out another
   * client behind the same address.
   */
  private async refuse(
    { why: reason, isMissing }: RefusedToken,
    source: RequestSource | null,
    response: Response,
  ): Promise<never> {
    const refusal = new RequestError('notAuthenticated', undefined, {
      'WWW-Authenticate': 'Bearer',
    });
    if (isMissing) throw refusal;
    const { count: failures, delayMs } = this.attempts.add(keyOf(source), performance.now());
    // The 1st, 10th, 100th …: an attack must not fill the log.
    if (Number.isInteger(Math.log10(failures))) {
      this.process.log.warn({ source: source?.text, failures, reason }, 'bad credentials');
    }
    if (delayMs === 0 || this.delayed >= MAX_DELAYED) throw refusal;
    this.delayed++;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    await sleep(delayMs, undefined, { signal: gone.signal }).catch(() => undefined);
    this.delayed--;
    throw refusal;
  }
}

/** An IPv4 address, or the /64 of an IPv6 address, which one client can have as a whole. */
function keyOf(source: RequestSource | null): string {
  if (source === null) return '';
  const { family, words } = source.address;
  return family === 4 ? String(words[0]) : `${words[0]}:${words[1]}`;
}

/** Counts a call of a token until its response is closed. @throws RequestError 429 beyond the limits. */
function count(counter: CallCounter, token: string, response: Response, detail?: string): void {
  if (!counter.begin(token, performance.now())) {
    throw new RequestError('tooManyCalls', detail, { 'Retry-After': '1' });
  }
  response.once('close', () => counter.end(token));
}
