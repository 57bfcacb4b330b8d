import { type Change, decodeChange, decodeLogPoint, type Operation } from '@weir/config-model';
import { Yielder } from '../runtime/yielder.js';

/** Decoded in a millisecond or two. */
const MAX_OPERATIONS = 1_000;

/**
 * Decodes changes without blocking the event loop for long.
 * @throws RowError when a value is not an encoded change.
 */
export async function decodeChanges(values: readonly unknown[]): Promise<Change[]> {
  const yielder = new Yielder();
  const changes: Change[] = [];
  for (const value of values) {
    const point = decodeLogPoint(value);
    const operations: Operation[] = [];
    for (const part of partsOf(value)) {
      operations.push(...decodeChange(part).operations);
      await yielder.yieldIfDue();
    }
    changes.push({ ...point, operations });
  }
  return changes;
}

/** Cuts an encoded change into changes of fewer operations. Any other value is left as it is. */
function* partsOf(value: unknown): Generator {
  const { operations } = value as { readonly operations?: unknown };
  if (!Array.isArray(operations) || operations.length <= MAX_OPERATIONS) {
    yield value;
    return;
  }
  for (let at = 0; at < operations.length; at += MAX_OPERATIONS) {
    yield {
      ...(value as object),
      operations: operations.slice(at, at + MAX_OPERATIONS) as unknown,
    };
  }
}
