/** A list with less than this share of the last accepted one is taken for an error of its source. */
const MIN_SHARE = 0.5;
/** A list that has grown beyond this may be in the wrong hands, or another list. */
const MAX_SHARE = 4;

/**
 * Why a list must not replace the last accepted one; null when it may.
 * @param count domains in the list.
 * @param lastCount domains in the last accepted list; null: there is none.
 */
export function rejectionReason(count: number, lastCount: number | null): string | null {
  if (count === 0) return 'lists no domain';
  if (lastCount !== null && count < lastCount * MIN_SHARE) {
    return `lists ${count} domains, less than half of the ${lastCount} before; the last list stays in force`;
  }
  if (lastCount !== null && lastCount > 0 && count > lastCount * MAX_SHARE) {
    return `lists ${count} domains, more than four times the ${lastCount} before; the last list stays in force`;
  }
  return null;
}
