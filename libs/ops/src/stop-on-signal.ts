import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './log.js';

/** What a process does, and how it ends: in two steps, so that load balancers have time to notice. */
export interface Service {
  /** Is not ready from now on, but goes on answering everything. */
  drain(): void;
  /** Takes no more, finishes what is in flight, gives everything back. */
  stop(): Promise<void>;
}

export interface StopOptions {
  /** `DRAIN_S`. */
  readonly drainSeconds: number;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** Longest that `Service.stop` may take. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 9_000;

/**
 * At the first SIGTERM or SIGINT the service drains for `drainSeconds`, then stops, and the process exits: 0 when
 * that went well, 1 when it failed or took too long. A process that is still starting exits 0 at once: nobody was led
 * to it yet. It is to be called before the start is over, because the first process of a container does not get a
 * signal that nobody listens for.
 */
export function stopOnSignal(starting: Promise<Service>, options: StopOptions): void {
  const { drainSeconds, log, deadlineMs = DEADLINE_MS } = options;
  let service: Service | null = null;
  let isStopping = false;
  // A start that fails is explained by who waits for it.
  starting.then((started) => (service = started)).catch(() => undefined);
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) return;
    isStopping = true;
    end(service, signal).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  const end = async (running: Service | null, signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal, drainSeconds }, running === null ? 'stopped at the start' : 'stopping');
    if (running === null) return;
    running.drain();
    await sleep(drainSeconds * 1_000);
    setTimeout(() => {
      log.error({ deadlineMs }, 'stopping took too long');
      process.exit(1);
    }, deadlineMs).unref();
    await running.stop();
    log.info({}, 'stopped');
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
