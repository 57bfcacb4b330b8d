import type { NaptAssignment } from '@weir/config-model';
import { forEachRow, Yielder } from '../../../platform/yielder.js';
import { type Clash, findClashes, type OrderedRange } from './port-ranges.js';

export type OrderedAssignment = NaptAssignment & OrderedRange;

/** Order of stored ranges: before all submitted ones. */
const STORED_ORDER = -1;

/**
 * Clashes among the submitted assignments, and between them and the stored ones. The order is the position in the
 * request.
 */
export async function clashesByAddress(
  submitted: readonly NaptAssignment[],
  stored: readonly NaptAssignment[],
): Promise<Clash<OrderedAssignment>[]> {
  const yielder = new Yielder();
  const byAddress = new Map<number, OrderedAssignment[]>();
  const add = (assignment: NaptAssignment, order: number): void => {
    const ranges = byAddress.get(assignment.address) ?? [];
    if (ranges.length === 0) byAddress.set(assignment.address, ranges);
    ranges.push({ ...assignment, order });
  };
  await forEachRow(yielder, stored.length, (i) => add(stored[i], STORED_ORDER));
  await forEachRow(yielder, submitted.length, (i) => add(submitted[i], i));
  const addresses = [...byAddress.values()];
  const found: Clash<OrderedAssignment>[] = [];
  await forEachRow(yielder, addresses.length, (i) => {
    for (const clash of findClashes(addresses[i])) found.push(clash);
  });
  return found;
}
