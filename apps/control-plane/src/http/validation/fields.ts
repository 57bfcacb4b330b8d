import {
  getMetadataStorage,
  IS_OPTIONAL,
  IsOptional,
  type ValidationArguments,
  ValidationTypes,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { DtoClass } from './dto.js';
import type { Fault } from './fault.js';
import {
  type Conversion,
  conversionOf,
  isAbsence,
  isPresent,
  nestedTypeOf,
  Optional,
  replacementOf,
  type RuleContext,
  type ValueSchema,
} from './rules.js';

/** What the decorators of a field say. The reader and the OpenAPI document are made from it. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  /** It is required where that other field is not. */
  readonly requiredWithout: string | undefined;
  /** In an answer it is there only where it applies. */
  readonly maybeAbsent: boolean;
  /** Null needs not keep the rules. */
  readonly nullable: boolean;
  /** In the order in which they are checked. */
  readonly rules: readonly FieldRule[];
  /** Rules of each item of a list. */
  readonly itemRules: readonly FieldRule[];
  readonly isList: boolean;
  /** Class of the object, or of the items of the list; undefined for plain values. */
  readonly type: DtoClass | undefined;
  /** Converts a value before the rules are checked. */
  readonly convert: Conversion | undefined;
  /** Without the schema of `type`. */
  readonly schema: ValueSchema;
}

/** What class-validator has stored of a decorator. */
type Metadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

/**
 * The fields of a class in the order of their declaration, those of its base class last.
 * @throws Error when a decorator says something that the reader does not know.
 */
export function fieldsOf(type: DtoClass): readonly Field[] {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const byName = Map.groupBy(metadata, ({ propertyName }) => propertyName);
  return Array.from(byName, ([name, its]) => toField(type, name, its));
}

/**
 * A class with the fields of another one, none of which is required or has a default: the body of a PATCH. The rules of
 * the fields stay.
 */
export function allOptional<T extends object>(type: DtoClass<T>): DtoClass<Partial<T>> {
  // oxlint-disable-next-line typescript/no-extraneous-class -- it gets its fields below
  class Patch {}
  // Only the rules are inherited, which belong to the prototype. Defaults are set by the constructor.
  Object.setPrototypeOf(Patch.prototype, type.prototype as object);
  for (const { name, nullable } of fieldsOf(type)) {
    const isOptional = nullable ? IsOptional() : Optional();
    isOptional(Patch.prototype, name);
  }
  return Patch;
}

function toField(owner: DtoClass, name: string, metadata: readonly Metadata[]): Field {
  const byType = Map.groupBy(metadata, ({ type }) => type);
  const conditions = byType.get(ValidationTypes.CONDITIONAL_VALIDATION) ?? [];
  const nullable = conditions.some((one) => one.name === IS_OPTIONAL);
  const maybeAbsent = conditions.some(({ constraints }) => isAbsence(constraints[0]));
  const isOptional = conditions.every(({ constraints }) => constraints[0] === isPresent);
  if (!nullable && !maybeAbsent && !isOptional) {
    throw new Error(`${owner.name}.${name}: a field is optional by @Optional() or @IsOptional()`);
  }
  const custom = byType.get(ValidationTypes.CUSTOM_VALIDATION) ?? [];
  const rules = custom.filter(({ each }) => !each).map((one) => new FieldRule(one));
  const itemRules = custom.filter(({ each }) => each).map((one) => new FieldRule(one));
  const isList = itemRules.length > 0;
  return {
    name,
    required: conditions.length === 0,
    requiredWithout: replacementOf(owner, name),
    maybeAbsent,
    nullable,
    rules,
    itemRules,
    isList,
    type: nestedTypeOf(owner, name),
    convert: conversionOf(owner, name),
    schema: {
      ...schemaOf(rules),
      ...(isList && { items: schemaOf(itemRules) }),
      ...(nullable && { nullable }),
    },
  };
}

function schemaOf(rules: readonly FieldRule[]): ValueSchema {
  return Object.assign({}, ...rules.map(({ schema }) => schema)) as ValueSchema;
}

const NOTHING = {};

/** A rule of a field, as class-validator stores it, ready to be checked millions of times. */
export class FieldRule {
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
