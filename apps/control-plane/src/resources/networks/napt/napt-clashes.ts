import type { NaptAssignment } from '@weir/config-model';
import { type Clash, findClashes, type OrderedRange } from './port-ranges.js';

export type OrderedAssignment = NaptAssignment & OrderedRange;

/** Order of stored ranges: before all submitted ones. */
const STORED_ORDER = -1;

/**
 * Clashes among the submitted assignments, and between them and the stored ones. The order is the position in the
 * request.
 */
export function clashesByAddress(
  submitted: readonly NaptAssignment[],
  stored: readonly NaptAssignment[],
): Clash<OrderedAssignment>[] {
  const byAddress = new Map<number, OrderedAssignment[]>();
  const add = (assignment: NaptAssignment, order: number): void => {
    const ranges = byAddress.get(assignment.address) ?? [];
    if (ranges.length === 0) byAddress.set(assignment.address, ranges);
    ranges.push({ ...assignment, order });
  };
  for (const one of stored) add(one, STORED_ORDER);
  submitted.forEach(add);
  return [...byAddress.values()].flatMap((ranges) => findClashes(ranges));
}
