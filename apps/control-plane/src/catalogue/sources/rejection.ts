/** A list with less than this share of the last accepted one is taken for an error of its source. */
const MIN_SHARE = 0.5;
/** A list that has grown beyond this may be in the wrong hands, or another list. */
const MAX_SHARE = 4;

export interface Rejection {
  readonly problem: string;
  /** Whether somebody may accept the list. */
  readonly isHeld: boolean;
}

/**
 * Why a list must not replace the last accepted one; null when it may.
 * @param count domains in the list.
 * @param lastCount domains in the last accepted list; null: there is none, or the list need not be like it.
 */
export function rejectionOf(count: number, lastCount: number | null): Rejection | null {
  if (count === 0) return { problem: 'lists no domain', isHeld: false };
  if (lastCount === null || lastCount === 0) return null;
  const than =
    count < lastCount * MIN_SHARE
      ? 'less than half of'
      : count > lastCount * MAX_SHARE
        ? 'more than four times'
        : null;
  if (than === null) return null;
  const problem = `lists ${count} domains, ${than} the ${lastCount} before; the last list stays in force`;
  return { problem, isHeld: true };
}
