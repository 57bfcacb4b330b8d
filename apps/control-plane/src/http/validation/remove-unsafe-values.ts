import type { Fault } from './fault.js';

/** Deepest nesting of a body; the contract's own reaches six. */
const MAX_DEPTH = 16;

/**
 * Takes out of a parsed body what class-transformer would drop in silence or trip over: keys that every object inherits
 * (`constructor`, `__proto__`, `toString` …) and values nested too deep for recursion. None of them is a field of the
 * contract. Changes `value`.
 * @returns a fault for each that was taken out.
 */
export function removeUnsafeValues(value: unknown): Fault[] {
  const faults: Fault[] = [];
  prune(value, [], faults);
  return faults;
}

function prune(value: unknown, loc: string[], faults: Fault[]): void {
  if (typeof value !== 'object' || value === null) return;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) {
    const child = container[key];
    if (!Array.isArray(value) && key in Object.prototype) {
      faults.push({ loc: [...loc, key], msg: 'No such field', type: 'extra_forbidden' });
      Reflect.deleteProperty(container, key);
    } else if (loc.length >= MAX_DEPTH && typeof child === 'object' && child !== null) {
      faults.push({ loc: [...loc, key], msg: 'Nested too deep', type: 'value_error' });
      container[key] = null;
    } else if (typeof child === 'object' && child !== null) {
      prune(child, [...loc, key], faults);
    }
  }
}
