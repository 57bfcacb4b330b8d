import type { ValidationArguments } from 'class-validator';
import type { FaultType } from './fault.js';

/** JSON Schema of a value, as OpenAPI writes it. */
export type ValueSchema = Readonly<Record<string, unknown>>;

/** `context` of a decorator of class-validator. */
export interface RuleContext {
  /** Type of the fault of a value that breaks the rule. */
  readonly fault: FaultType | ((args: ValidationArguments) => FaultType);
  /** What the rule adds to the schema of the value. */
  readonly schema: ValueSchema;
}
