/**
 * Why a statement is not allowed in a migration. `contracts`: it removes or forbids something that the previous
 * release, which still runs, may need. `locks`: it blocks readers or writers for as long as the work on a large
 * table takes. `never`: the runner cannot execute it.
 */
export type FindingKind = 'contracts' | 'locks' | 'never';

export interface Finding {
  readonly kind: FindingKind;
  /** What the statement does, to complete "this …". */
  readonly text: string;
}

export function contracts(text: string): Finding {
  return { kind: 'contracts', text };
}

export function locks(text: string): Finding {
  return { kind: 'locks', text };
}

export function never(text: string): Finding {
  return { kind: 'never', text };
}
