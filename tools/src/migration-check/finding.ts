/**
 * Why a statement must not stand in a migration as it is.
 * `contracts`: the previous release, which runs beside and after the migration, may need what it takes away or forbids.
 * `locks`: it holds off readers or writers for as long as a large table takes. `never`: the runner cannot work with it.
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
