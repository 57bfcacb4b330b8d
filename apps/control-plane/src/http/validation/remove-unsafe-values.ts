import type { Fault } from './fault.js';

/** Deepest nesting of a body. The contract needs six levels. */
const MAX_DEPTH = 16;

/**
 * Removes from a parsed body what class-transformer ignores or cannot process: keys of `Object.prototype`
 * (`constructor`, `__proto__`, `toString` …) and values nested too deeply for its recursion. No field of the contract
 * is like that. It changes `value`.
 * @returns one fault for each removed value.
 */
export function removeUnsafeValues(value: unknown): Fault[] {
  const faults: Fault[] = [];
  remove(value, [], faults);
  return faults;
}

function remove(value: unknown, loc: string[], faults: Fault[]): void {
  if (typeof value !== 'object' || value === null) return;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) {
    const child = container[key];
    if (!Array.isArray(value) && key in Object.prototype) {
      faults.push({ loc: [...loc, key], msg: 'Unknown field', type: 'extra_forbidden' });
      Reflect.deleteProperty(container, key);
    } else if (loc.length >= MAX_DEPTH && typeof child === 'object' && child !== null) {
      faults.push({ loc: [...loc, key], msg: 'Nested too deeply', type: 'value_error' });
      container[key] = null;
    } else if (typeof child === 'object' && child !== null) {
      remove(child, [...loc, key], faults);
    }
  }
}
