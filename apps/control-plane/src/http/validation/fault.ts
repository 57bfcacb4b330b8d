/** Machine-readable types of faults. They are stable: clients may depend on them (decisions §1). */
export const FAULT_TYPES = [
  'missing',
  'json_invalid',
  'extra_forbidden',
  'object_type',
  'list_type',
  'too_long',
  'int_type',
  'bool_type',
  'string_type',
  'greater_than_equal',
  'less_than_equal',
  'enum',
  'value_error',
  'reference',
  'duplicate',
] as const;

export type FaultType = (typeof FAULT_TYPES)[number];

/** Where in a request a fault is: `body`, `path` or `query`, then field names; array positions as strings. */
export type FaultLocation = readonly string[];

/** One validation error of a request: an item of `detail` in a 422 response. */
export interface Fault {
  /** Inside a check: relative to the value checked. */
  readonly loc: FaultLocation;
  /** For people. It never contains a domain. */
  readonly msg: string;
  readonly type: FaultType;
}

/** Most faults in one response (decisions §1). */
export const MAX_FAULTS = 100;

/** Ends the request with 422 and these faults. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
  readonly faults: readonly Fault[];

  /** @param faults at least one; only the first `MAX_FAULTS` are used. */
  constructor(faults: readonly Fault[]) {
    super('invalid request');
    this.faults = faults.slice(0, MAX_FAULTS);
  }
}

/** @throws InvalidRequestError when there is at least one fault. */
export function throwIfFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new InvalidRequestError(faults);
}

/** The faults with `loc` put before their locations. */
export function prefixFaults(loc: readonly string[], faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ ...fault, loc: [...loc, ...fault.loc] }));
}

/** Collects the first `MAX_FAULTS` faults of a long body. */
export class FaultList {
  private readonly found: Fault[] = [];

  get isFull(): boolean {
    return this.found.length >= MAX_FAULTS;
  }

  add(...faults: readonly Fault[]): void {
    this.found.push(...faults.slice(0, MAX_FAULTS - this.found.length));
  }

  /** @throws InvalidRequestError when there is at least one fault. */
  throwIfAny(): void {
    throwIfFaults(this.found);
  }
}
