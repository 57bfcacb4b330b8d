import {
  type Change,
  decodeHead,
  decodeLogPoint,
  decodeOperation,
  type Head,
  type Operation,
  RowError,
} from '@weir/config-model';
import { Yielder } from '../runtime/yielder.js';
import { type ChangesPage, type ReceivedChange, readTraced } from './protocol.js';
import { SteppedJson } from './stepped-json.js';

/** Depth of the operations in the JSON of a page of changes. */
const PAGE_DEPTH = 4;

/**
 * Reads a page of changes, the answer of `GET /changes`, however large, without blocking the event loop for long.
 * @throws RowError when it is none.
 */
export async function readChangesPage(
  json: Uint8Array,
): Promise<{ head: Head; changes: ReceivedChange[] }> {
  const yielder = new Yielder();
  const stepped = await SteppedJson.scan(json, PAGE_DEPTH, yielder);
  const page = stepped.rest as Partial<ChangesPage> | null;
  if (!Array.isArray(page?.changes)) throw new RowError('a page has an array of changes');
  const changes: ReceivedChange[] = [];
  for (const change of page.changes as unknown[]) {
    const decoded = await decodeInSteps(change, stepped, yielder);
    changes.push({ ...decoded, ...readTraced(change) });
  }
  return { head: decodeHead(page.head), changes };
}

async function decodeInSteps(
  change: unknown,
  stepped: SteppedJson,
  yielder: Yielder,
): Promise<Change> {
  const point = decodeLogPoint(change);
  const operations: Operation[] = [];
  for (const piece of stepped.elements((change as { operations?: unknown }).operations)) {
    for (const operation of piece) operations.push(decodeOperation(operation));
    await yielder.yieldIfDue();
  }
  return { ...point, operations };
}
