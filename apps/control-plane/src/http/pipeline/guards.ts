import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Registry } from 'prom-client';
import { PROCESS, type Process } from '../../process.js';
import { CallCounter, FailedAttempts, registerCallerMetrics } from '../callers/caller-limits.js';
import { includesScope } from '../callers/scope.js';
import { checkToken } from '../callers/tokens.js';
import { RequestError } from '../errors/errors.js';
import { endpointOf, Pages } from '../routing/endpoint.js';
import type { Request, RequestSource, Response } from '../routing/http.js';
import { isDryRun } from './read-request.js';

/*
 * The guards in the order in which they check a request (decisions §8). Nothing is read of the body of a call that one
 * of them refuses. Only public pages pass `TokenGuard` without a token: they have no caller.
 */

/** Refuses sources that are not approved, which so learn nothing about tokens. */
@Injectable()
export class SourceGuard implements CanActivate {
  constructor(@Inject(PROCESS) private readonly process: Process) {}

  canActivate(execution: ExecutionContext): boolean {
    const { source } = execution.switchToHttp().getRequest<Request>().context;
    const { MANAGEMENT_ALLOWED_SOURCES: allowed } = this.process.configuration;
    if (!allowed || (source !== null && allowed.has(source.address))) return true;
    throw new RequestError('sourceNotApproved');
  }
}

/** Delayed answers at a time. Each holds a connection; further ones are not delayed. */
const MAX_DELAYED = 1_000;

/**
 * Finds the caller of a request. All bad credentials get the same answer, later and later. Good ones never wait, so
 * that nobody can lock out another client behind the same address.
 */
@Injectable()
export class TokenGuard implements CanActivate {
  private readonly attempts = new FailedAttempts();
  private delayed = 0;

  constructor(
    private readonly reflector: Reflector,
    @Inject(PROCESS) private readonly process: Process,
    registry: Registry,
  ) {
    registerCallerMetrics(registry, this.attempts, process.tokens);
  }

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const http = execution.switchToHttp();
    const { context, headers } = http.getRequest<Request>();
    const address = context.source?.address ?? null;
    const check = checkToken(this.process.tokens.value, headers.authorization, address, Date.now());
    if (check.caller !== null) {
      context.caller = check.caller;
      return true;
    }
    if (this.isPublic(execution)) return true;
    const refusal = new RequestError('notAuthenticated', undefined, {
      'WWW-Authenticate': 'Bearer',
    });
    if (check.isMissing) throw refusal;
    const delayMs = this.countFailure(context.source, check.why);
    if (delayMs === 0 || this.delayed >= MAX_DELAYED) throw refusal;
    return this.delay(http.getResponse<Response>(), delayMs, refusal);
  }

  private isPublic(execution: ExecutionContext): boolean {
    const pages = this.reflector.get(Pages, execution.getClass());
    const { MANAGEMENT_DOCS: access } = this.process.configuration;
    return pages === 'console' || (pages === 'docs' && access === 'public');
  }

  /** @returns how long the answer is delayed. */
  private countFailure(source: RequestSource | null, reason: string): number {
    const { count, delayMs } = this.attempts.add(keyOf(source), performance.now());
    // The 1st, 10th, 100th …: an attack must not fill the log.
    if (Number.isInteger(Math.log10(count))) {
      this.process.log.warn({ source: source?.text, failures: count, reason }, 'bad credentials');
    }
    return delayMs;
  }

  /** Rejects after the delay, or when the client has gone. */
  private async delay(response: Response, delayMs: number, refusal: RequestError): Promise<never> {
    this.delayed++;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      response.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
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

/** Counts a call of its token until its response is closed. @throws RequestError 429 beyond the limits. */
function count(execution: ExecutionContext, counter: CallCounter, detail?: string): void {
  const http = execution.switchToHttp();
  const { caller } = http.getRequest<Request>().context;
  if (caller === null) return;
  if (!counter.begin(caller.name, performance.now())) {
    throw new RequestError('tooManyCalls', detail, { 'Retry-After': '1' });
  }
  http.getResponse<Response>().once('close', () => counter.end(caller.name));
}

const TOO_MANY_LISTS =
  'Too many lists are being read with this token. Try again when one has ended';

/** Refuses calls beyond the limits of their token, and lists, so that it leaves connections for others. */
@Injectable()
export class CallLimitGuard implements CanActivate {
  private readonly calls: CallCounter;
  private readonly lists: CallCounter;

  constructor(@Inject(PROCESS) { configuration }: Process) {
    const { MANAGEMENT_CALLS_PER_SECOND: perSecond } = configuration;
    this.calls = new CallCounter({ perSecond, atOnce: configuration.MANAGEMENT_CALLS_AT_ONCE });
    this.lists = new CallCounter({ perSecond, atOnce: configuration.MANAGEMENT_LISTS_AT_ONCE });
  }

  canActivate(execution: ExecutionContext): boolean {
    count(execution, this.calls);
    if (endpointOf(execution.getHandler())?.isListing) count(execution, this.lists, TOO_MANY_LISTS);
    return true;
  }
}

/** Refuses a call beyond the scope of its token (decisions §11). */
@Injectable()
export class ScopeGuard implements CanActivate {
  canActivate(execution: ExecutionContext): boolean {
    const request = execution.switchToHttp().getRequest<Request>();
    const { caller } = request.context;
    const endpoint = endpointOf(execution.getHandler());
    const needed = !endpoint || isDryRun(endpoint, request) ? 'read' : endpoint.scope;
    if (caller === null || includesScope(caller.scope, needed)) return true;
    throw new RequestError('scopeMissing', `This call needs a token with scope ${needed}`);
  }
}
