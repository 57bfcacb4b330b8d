import type { HashKey } from '@weir/dns-name';
import type { Fault } from '../../http/validation/fault.js';
import { InvalidRequestError } from '../../http/validation/fault.js';
import type { ActiveApplications } from '../../resources/applications/active-catalogue-reader.js';
import type { Author } from '../../revisions/author.js';
import type { LoggedChange } from '../../revisions/configuration-writer.js';
import type { DryRunDto } from '../load/dry-run.dto.js';

/** What the thread is started with. */
export interface ThreadSettings {
  readonly databaseUrl: string;
  readonly hashKey: HashKey;
}

/** What the thread is asked to do with a body, one after the other. */
export interface Steps {
  /** @returns whether more of the body is needed. */
  push(bytes: Uint8Array): boolean;
  /** The body is whole. @throws InvalidRequestError */
  check(applications: ActiveApplications): void;
  /**
   * Writes and logs it, in a transaction that has locked the head.
   * @param waitMs longest wait for the head.
   * @throws InvalidRequestError when another catalogue came in force meanwhile, to which it does not fit; the error of
   * PostgreSQL
   */
  load(author: Author, waitMs: number): Promise<LoggedChange>;
  commit(): Promise<void>;
  /**
   * Compares it with what is stored, in place of `load` and `commit`.
   * @throws as `load`
   */
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

export function toError(failure: Failure): Error {
  if ('faults' in failure) return new InvalidRequestError(failure.faults);
  return Object.assign(new Error(failure.message), failure);
}
