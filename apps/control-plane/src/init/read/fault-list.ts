import { type Fault, MAX_FAULTS, throwIfFaults } from '../../http/validation/fault.js';

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
