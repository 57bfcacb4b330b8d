/** A range of ports of one address, both ends inclusive. */
export interface PortRange {
  readonly lowerPort: number;
  readonly upperPort: number;
}

/** Message of the fault of a range whose upper port is below its lower port. */
export const UPPER_BELOW_LOWER = 'Must not be below the lower port bound';

/** A range that is to stand beside others; of two that clash, the one with the higher order is to blame. */
export interface OrderedRange extends PortRange {
  readonly order: number;
}

export interface Clash<R extends OrderedRange> {
  readonly earlier: R;
  /** The one to blame. */
  readonly later: R;
}

/**
 * Whether two ranges cannot stand on one address: equal, or overlapping without one lying inside the other (decisions
 * §3).
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
 * Clashes among ranges of one address: none exactly when all of them may stand together, and without those to blame the
 * rest may. In order of lower ends, a stack holds the ranges that reach the current one, each inside the one below; so
 * the top alone decides.
 */
export function findClashes<R extends OrderedRange>(ranges: readonly R[]): Clash<R>[] {
  const found: Clash<R>[] = [];
  const stack: R[] = [];
  for (const range of [...ranges].sort(outerFirst)) {
    let stands = true;
    for (let top = stack.at(-1); stands && top !== undefined; top = stack.at(-1)) {
      if (top.upperPort < range.lowerPort) {
        stack.pop();
      } else if (!clashes(top, range)) {
        break;
      } else if (top.order < range.order) {
        found.push({ earlier: top, later: range });
        stands = false;
      } else {
        found.push({ earlier: range, later: top });
        stack.pop();
      }
    }
    if (stands) stack.push(range);
  }
  return found;
}

function outerFirst(a: OrderedRange, b: OrderedRange): number {
  return a.lowerPort - b.lowerPort || b.upperPort - a.upperPort || a.order - b.order;
}
