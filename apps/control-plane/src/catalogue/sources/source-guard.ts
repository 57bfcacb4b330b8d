/** A list shorter than this share of the last one is taken for a fault of its source. */
const LEAST_SHARE = 0.5;

/**
 * Why a list must not take the place of the last good one, or null.
 * @param count domains that it lists. @param lastCount those of the last good list; null: there is none to compare with.
 */
export function refusalOf(count: number, lastCount: number | null): string | null {
  if (count === 0) return 'lists no domain';
  if (lastCount !== null && count < lastCount * LEAST_SHARE) {
    return `lists ${count} domains, less than half of the ${lastCount} before; the last list stays in force`;
  }
  return null;
}
