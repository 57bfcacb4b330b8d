import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { checkToken } from '../callers/tokens.js';
import { RequestError } from '../errors/errors.js';
import { Docs } from '../routing/endpoint.js';
import type { Request, Response } from '../routing/http.js';
import type { RequestSource } from '../routing/request-context.js';
import { HTTP_OPTIONS, type HttpOptions } from './http-options.js';

/** Delayed answers at a time. Each holds a connection; further ones are not delayed. */
const MAX_DELAYED = 1_000;

/**
 * Finds the caller of a request. All bad credentials get the same answer, later and later. Good ones never wait, so
 * that nobody can lock out another client behind the same address.
 */
@Injectable()
export class TokenGuard implements CanActivate {
  private delayed = 0;

  constructor(
    private readonly reflector: Reflector,
    @Inject(HTTP_OPTIONS) private readonly options: HttpOptions,
  ) {}

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const http = execution.switchToHttp();
    const { context, headers } = http.getRequest<Request>();
    const address = context.source?.address ?? null;
    const check = checkToken(this.options.tokens(), headers.authorization, address, Date.now());
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
    return this.options.docs === 'public' && this.reflector.get(Docs, execution.getClass());
  }

  /** @returns how long the answer is delayed. */
  private countFailure(source: RequestSource | null, reason: string): number {
    const { attempts, log } = this.options;
    const { count, delayMs } = attempts.add(keyOf(source), performance.now());
    // The 1st, 10th, 100th …: an attack must not fill the log.
    if (Number.isInteger(Math.log10(count))) {
      log.warn({ source: source?.text, failures: count, reason }, 'bad credentials');
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
