import { CatalogueError } from '../catalogue-error.js';
import type { OpenOptions } from './source.js';

const IDLE_TIMEOUT_MS = 30_000;

/** Aborts a request at its total timeout, at its idle timeout, or when its caller aborts. */
export class Timeouts {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly idleMs: number;
  private readonly total: NodeJS.Timeout;
  private idle: NodeJS.Timeout;

  constructor({ timeoutMs, idleTimeoutMs = IDLE_TIMEOUT_MS, signal }: OpenOptions) {
    this.signal = AbortSignal.any([this.controller.signal, ...(signal ? [signal] : [])]);
    this.idleMs = idleTimeoutMs;
    this.total = this.after(timeoutMs, 'did not end');
    this.idle = this.after(this.idleMs, 'sent nothing');
  }

  /** Restarts the idle timeout: call it for each chunk. */
  restartIdle(): void {
    clearTimeout(this.idle);
    this.idle = this.after(this.idleMs, 'sent nothing');
  }

  /** Stops the timeouts, and closes the connection if the body was not read to its end. */
  end(): void {
    clearTimeout(this.total);
    clearTimeout(this.idle);
    this.controller.abort();
  }

  private after(ms: number, problem: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.controller.abort(new CatalogueError(`${problem} within ${ms / 1000} s`));
    }, ms);
  }
}
