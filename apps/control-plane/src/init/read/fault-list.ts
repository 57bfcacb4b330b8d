import { type Fault, MAX_FAULTS, throwIfFaults } from '../../http/validation/fault.js';

/** The first faults of a long body; it holds no more than an answer names. */
export class FaultList {
  private readonly found: Fault[] = [];

  get isFull(): boolean {
    return this.found.length >= MAX_FAULTS;
  }

  add(...faults: readonly Fault[]): void {
    this.found.push(...faults.slice(0, MAX_FAULTS - this.found.length));
  }

  /** @throws InvalidRequestError when there is any. */
  refuse(): void {
    throwIfFaults(this.found);
  }
}
