import type { HashKey } from '@weir/dns-name';
import { startThread } from '@weir/ops';
import type { Worker } from 'node:worker_threads';
import { type Fault, InvalidRequestError } from '../../http/validation/fault.js';
import type { ActiveApplications } from '../../resources/applications/active-applications.js';
import type { Replacement } from '../../revisions/configuration-writer.js';
import type { DryRunDto } from '../read/init.dto.js';

/** What the thread is started with. */
export interface ThreadSettings {
  readonly databaseUrl: string;
  readonly hashKey: HashKey;
}

/** What the thread is asked to do with a body, one after the other. */
export interface Steps extends Replacement {
  /** @returns whether more of the body is needed. */
  push(bytes: Uint8Array): boolean;
  /** The body is whole. @throws InvalidRequestError */
  check(applications: ActiveApplications): void;
  /** Compares it with what is stored, in place of `load` and `commit`. @throws as `load` */
  compare(): Promise<DryRunDto>;
  /** Also ends a transaction that was not committed. */
  close(): Promise<void>;
}

export type StepName = keyof Steps;

export interface Request {
  readonly call: number;
  /** The body that it is for. */
  readonly body: number;
  readonly step: StepName;
  readonly values: readonly unknown[];
}

export type Reply =
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failure: Failure };

/** An error. Its class does not pass between threads. */
type Failure =
  | { readonly faults: readonly Fault[] }
  | {
      readonly name: string;
      readonly message: string;
      readonly stack: string;
      readonly code: unknown;
    };

export function toFailure(error: unknown): Failure {
  if (error instanceof InvalidRequestError) return { faults: error.faults };
  const { name, message, stack = '', code } = error as Error & { code?: unknown };
  return { name, message, stack, code };
}

function toError(failure: Failure): Error {
  if ('faults' in failure) return new InvalidRequestError(failure.faults);
  return Object.assign(new Error(failure.message), failure);
}

/** After this time without a call it ends, and with it its memory. */
const IDLE_MS = 30_000;

const ENDED = 'the thread of POST /init/ has ended';

interface Thread {
  readonly worker: Worker;
  /** By number of the call. */
  readonly pending: Map<number, Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>>;
  readonly hasEnded: boolean;
}

/** `Steps` in the thread. */
export type RemoteSteps = {
  readonly [K in StepName]: (
    ...values: Parameters<Steps[K]>
  ) => Promise<Awaited<ReturnType<Steps[K]>>>;
};

/**
 * The thread in which the bodies of POST /init/ are read, checked and loaded, so that none of it delays other calls. It
 * starts with the first body.
 */
export class InitThread {
  private thread: Thread | null = null;
  private calls = 0;
  private bodies = 0;
  private open = 0;
  private idle: NodeJS.Timeout | undefined;

  constructor(private readonly settings: ThreadSettings) {}

  /** Takes a body through its steps. It is closed at the end. */
  async use<T>(work: (steps: RemoteSteps) => Promise<T>): Promise<T> {
    const body = this.bodies++;
    // What a body has in a thread is lost with it, although another one may have started meanwhile.
    const thread = (this.thread ??= this.start());
    const ask = <T>(step: StepName, ...values: unknown[]): Promise<T> =>
      this.call(thread, body, step, values) as Promise<T>;
    this.open++;
    clearTimeout(this.idle);
    try {
      return await work({
        push: (bytes) => ask('push', bytes),
        check: (applications) => ask('check', applications),
        load: (author, waitMs) => ask('load', author, waitMs),
        commit: () => ask('commit'),
        compare: () => ask('compare'),
        close: () => ask('close'),
      });
    } finally {
      await ask('close').catch(() => undefined);
      this.open--;
      if (this.open === 0) this.idle = setTimeout(() => void this.end(), IDLE_MS).unref();
    }
  }

  /** Its bodies fail, and their connections are closed. The next body starts it again. */
  async end(): Promise<void> {
    clearTimeout(this.idle);
    const { thread } = this;
    this.thread = null;
    await thread?.worker.terminate();
  }

  private call(
    { worker, pending, hasEnded }: Thread,
    body: number,
    step: StepName,
    values: readonly unknown[],
  ): Promise<unknown> {
    if (hasEnded) return Promise.reject(new Error(ENDED));
    const call = this.calls++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    pending.set(call, { resolve, reject });
    worker.postMessage({ call, body, step, values } satisfies Request);
    return promise;
  }

  private start(): Thread {
    const worker = startThread(import.meta.url, './thread-entry.js', { workerData: this.settings });
    const pending: Thread['pending'] = new Map();
    const thread = { worker, pending, hasEnded: false };
    worker.on('message', (reply: Reply) => {
      const one = pending.get(reply.call);
      pending.delete(reply.call);
      if ('failure' in reply) one?.reject(toError(reply.failure));
      else one?.resolve(reply.result);
    });
    const fail = (error: Error): void => {
      thread.hasEnded = true;
      if (this.thread === thread) this.thread = null;
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
    };
    worker.once('error', fail);
    worker.once('exit', () => fail(new Error(ENDED)));
    worker.unref();
    return thread;
  }
}
