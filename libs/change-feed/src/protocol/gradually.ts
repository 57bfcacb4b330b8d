import { type Change, decodeChange, decodeLogPoint, type Operation } from '@weir/config-model';
import { setImmediate as yieldToQueries } from 'node:timers/promises';

/** A millisecond of decoding, or two. */
const OPERATIONS = 1_000;
const WORK_MS = 2;

/** Work that goes on and on beside queries: lets them in every two milliseconds, between its steps. */
export class Breather {
  private beganMs = performance.now();

  async breathe(): Promise<void> {
    if (performance.now() - this.beganMs < WORK_MS) return;
    await yieldToQueries();
    this.beganMs = performance.now();
  }
}

/** Decodes changes, letting queries in, in the midst of a large change too. @throws RowError when a value is not an encoded change. */
export async function decodeGradually(values: readonly unknown[]): Promise<Change[]> {
  const breather = new Breather();
  const changes: Change[] = [];
  for (const value of values) {
    const point = decodeLogPoint(value);
    const operations: Operation[] = [];
    for (const part of partsOf(value)) {
      operations.push(...decodeChange(part).operations);
      await breather.breathe();
    }
    changes.push({ ...point, operations });
  }
  return changes;
}

/** Cuts an encoded change into changes of fewer operations; what is none is left as it is. */
function* partsOf(value: unknown): Generator {
  const { operations } = value as { readonly operations?: unknown };
  if (!Array.isArray(operations) || operations.length <= OPERATIONS) {
    yield value;
    return;
  }
  for (let at = 0; at < operations.length; at += OPERATIONS) {
    yield { ...(value as object), operations: operations.slice(at, at + OPERATIONS) as unknown };
  }
}
