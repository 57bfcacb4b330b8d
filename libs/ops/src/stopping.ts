import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './log.js';

/** What a process runs. It ends in two steps, so that load balancers have time to notice. */
export interface Service {
  /** From now on the process is not ready, but still answers everything. */
  drain(): void;
  /** Accepts nothing new, finishes what is in flight, releases all resources. */
  stop(): Promise<void>;
}

export interface StopOptions {
  /** `DRAIN_S`. */
  readonly drainSeconds: number;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** Longest time that `Service.stop` may take, together with a start that is waited for. */
  readonly deadlineMs?: number;
  /**
   * Whether a start must come to its end before the process does. Its threads load native code, and Node.js aborts
   * when a thread is ended meanwhile. Default: no.
   */
  readonly waitsForStart?: boolean;
}

const DEADLINE_MS = 9_000;

/**
 * At the first SIGTERM, SIGINT or SIGHUP the service drains for `drainSeconds` and then stops. The process exits with
 * 0, or with 1 when the stop failed or took too long. A process that is still starting does not drain: it has no
 * clients yet. It exits with 0 at once, or when its start is complete and undone.
 *
 * Call it before the start is complete: process 1 of a container does not receive a signal without a handler.
 */
export function stopOnSignal(starting: Promise<Service>, options: StopOptions): void {
  const { drainSeconds, log, deadlineMs = DEADLINE_MS, waitsForStart = false } = options;
  let service: Service | null = null;
  let isStopping = false;
  // The caller, which waits for the start too, reports its failure.
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
    log.info({ signal, drainSeconds }, running === null ? 'stopped during the start' : 'stopping');
    if (running !== null) {
      running.drain();
      await sleep(drainSeconds * 1_000);
    } else if (!waitsForStart) return;
    setTimeout(() => {
      log.error({ deadlineMs }, 'stopping took too long');
      process.exit(1);
    }, deadlineMs).unref();
    await (running ?? (await starting)).stop();
    log.info({}, 'stopped');
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, onSignal);
}

export type Stop = () => unknown;

/**
 * Calls one after the other, also those behind one that throws.
 * @throws the first error, when all have been called
 */
export async function stopInOrder(stops: readonly Stop[]): Promise<void> {
  const errors: unknown[] = [];
  for (const stop of stops) {
    try {
      await stop();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** The same, all at once. */
export async function stopTogether(stops: readonly Stop[]): Promise<void> {
  const stopping = stops.map((stop) => Promise.try(stop));
  await stopInOrder(stopping.map((stopped) => () => stopped));
}

/** Calls them one after the other because of an error, which it throws. What they throw is logged. */
export async function stopAndThrow(
  error: unknown,
  stops: readonly Stop[],
  log: Pick<Logger, 'error'>,
): Promise<never> {
  await stopInOrder(stops).catch((failure: unknown) => {
    log.error({ err: failure }, 'stopping failed');
  });
  throw error;
}
