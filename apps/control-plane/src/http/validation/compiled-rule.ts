import {
  getMetadataStorage,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { Fault } from './fault.js';
import type { RuleContext, ValueSchema } from './rule-context.js';

/** What class-validator has stored of a decorator. */
export type Metadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

/** A rule of a field, as class-validator stores it, ready to be checked millions of times. */
export class CompiledRule {
  readonly schema: ValueSchema;
  private readonly validator: ValidatorConstraintInterface;
  private readonly context: RuleContext;
  /** Is reused, and holds no value between two checks. */
  private readonly args: ValidationArguments;

  /** @throws Error when it has no fault type and text of ours: use the decorators of `rules.ts`. */
  constructor(private readonly metadata: Metadata) {
    const { target, propertyName, message, constraintCls } = metadata;
    const context = metadata.context as RuleContext | undefined;
    const targetName = typeof target === 'string' ? target : target.name;
    const [constraint] = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
    if (context === undefined || message === undefined || constraint === undefined) {
      throw new Error(`${targetName}.${propertyName} has a rule without a fault`);
    }
    this.context = context;
    this.schema = this.context.schema;
    this.validator = constraint.instance;
    const { constraints } = metadata;
    this.args = { value: null, object: {}, constraints, targetName, property: propertyName };
  }

  /** @param owner the object that contains the field. @returns null when the value keeps the rule. */
  check(value: unknown, owner: object): Fault | null {
    const { args } = this;
    args.value = value;
    args.object = owner;
    const fault = this.validator.validate(value, args) === true ? null : this.fault();
    args.value = null;
    args.object = NOTHING;
    return fault;
  }

  private fault(): Fault {
    const { message } = this.metadata;
    const { fault } = this.context;
    return {
      loc: [],
      msg: typeof message === 'function' ? message(this.args) : message,
      type: typeof fault === 'function' ? fault(this.args) : fault,
    };
  }
}

const NOTHING = {};
