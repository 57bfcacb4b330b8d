import type { Plant } from './plants.js';

/** @throws Error when the code to replace does not occur exactly once: the product has changed since. */
export function applyPlants(source: string, plants: readonly Plant[]): string {
  return plants.reduce((code, { file, find, replace }) => {
    const parts = code.split(find);
    if (parts.length !== 2)
      throw new Error(`${file} has ${parts.length - 1} times instead of once: ${find}`);
    return parts.join(replace);
  }, source);
}
