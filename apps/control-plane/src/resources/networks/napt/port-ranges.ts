/** A range of ports of one address, both ends inclusive. */
export interface PortRange {
  readonly lowerPort: number;
  readonly upperPort: number;
}

/** Message of the fault of a range whose upper port is below its lower port. */
export const UPPER_BELOW_LOWER = 'Must not be below the lower port bound';

/** A range among others of the same address. Of two that clash, the one with the higher order gets the fault. */
export interface OrderedRange extends PortRange {
  readonly order: number;
}

export interface Clash<R extends OrderedRange> {
  readonly earlier: R;
  /** The range that gets the fault. */
  readonly later: R;
}

/**
 * Whether two ranges of an address exclude each other: they are equal, or they overlap and neither contains the other
 * (decisions §3).
 */
export function clashes(a: PortRange, b: PortRange): boolean {
  if (a.lowerPort === b.lowerPort && a.upperPort === b.upperPort) return true;
  const [first, second] = a.lowerPort < b.lowerPort ? [a, b] : [b, a];
  return (
    first.lowerPort < second.lowerPort &&
    second.lowerPort <= first.upperPort &&
    first.upperPort < second.upperPort
  );
}

/**
 * Finds the clashes among ranges of one address. There are none exactly when all ranges are allowed together. Without
 * the ranges that get a fault, the rest is allowed together. The ranges are visited by lower port. A stack holds the
 * ranges that contain the current lower port, each inside the one below it, so only the top of the stack must be
 * compared.
 */
export function findClashes<R extends OrderedRange>(ranges: readonly R[]): Clash<R>[] {
  const found: Clash<R>[] = [];
  const stack: R[] = [];
  for (const range of [...ranges].sort(outerFirst)) {
    let isAllowed = true;
    for (let top = stack.at(-1); isAllowed && top !== undefined; top = stack.at(-1)) {
      if (top.upperPort < range.lowerPort) {
        stack.pop();
      } else if (!clashes(top, range)) {
        break;
      } else if (top.order < range.order) {
        found.push({ earlier: top, later: range });
        isAllowed = false;
      } else {
        found.push({ earlier: range, later: top });
        stack.pop();
      }
    }
    if (isAllowed) stack.push(range);
  }
  return found;
}

function outerFirst(a: OrderedRange, b: OrderedRange): number {
  return a.lowerPort - b.lowerPort || b.upperPort - a.upperPort || a.order - b.order;
}
