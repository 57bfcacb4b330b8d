import { type TransformFnParams, TransformationType } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, IS_OPTIONAL, ValidationTypes } from 'class-validator';
import { CompiledRule, type Metadata } from './compiled-rule.js';
import type { DtoClass } from './dto-class.js';
import type { ValueSchema } from './rule-context.js';
import { isPresent } from './rules.js';

/** What the decorators of a field say. The reader and the OpenAPI document are made from it. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  /** Null needs not keep the rules. */
  readonly nullable: boolean;
  /** In the order in which they are checked. */
  readonly rules: readonly CompiledRule[];
  /** Rules of each item of a list. */
  readonly itemRules: readonly CompiledRule[];
  readonly isList: boolean;
  /** Class of the object, or of the items of the list; undefined for plain values. */
  readonly type: DtoClass | undefined;
  /** Converts a value before the rules are checked. */
  readonly convert: ((value: unknown, source: object) => unknown) | undefined;
  /** Without the schema of `type`. */
  readonly schema: ValueSchema;
}

/**
 * The fields of a class in the order of their declaration, those of its base class last.
 * @throws Error when a decorator says something that the reader does not know.
 */
export function fieldsOf(type: DtoClass): readonly Field[] {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const byName = Map.groupBy(metadata, ({ propertyName }) => propertyName);
  return Array.from(byName, ([name, its]) => toField(type, name, its));
}

function toField(owner: DtoClass, name: string, metadata: readonly Metadata[]): Field {
  const byType = Map.groupBy(metadata, ({ type }) => type);
  const conditions = byType.get(ValidationTypes.CONDITIONAL_VALIDATION) ?? [];
  const nested = byType.get(ValidationTypes.NESTED_VALIDATION) ?? [];
  const nullable = conditions.some((one) => one.name === IS_OPTIONAL);
  if (!nullable && conditions.some(({ constraints }) => constraints[0] !== isPresent)) {
    throw new Error(`${owner.name}.${name}: a field is optional by @Optional() or @IsOptional()`);
  }
  const custom = byType.get(ValidationTypes.CUSTOM_VALIDATION) ?? [];
  const rules = custom.filter(({ each }) => !each).map((one) => new CompiledRule(one));
  const itemRules = custom.filter(({ each }) => each).map((one) => new CompiledRule(one));
  const isPlainList = itemRules.length > 0;
  return {
    name,
    required: conditions.length === 0,
    nullable,
    rules,
    itemRules,
    isList: isPlainList || nested.some(({ each }) => each),
    type: nested.length === 0 ? undefined : nestedType(owner, name),
    convert: conversionOf(owner, name),
    schema: {
      ...schemaOf(rules),
      ...(isPlainList && { items: schemaOf(itemRules) }),
      ...(nullable && { nullable }),
    },
  };
}

function schemaOf(rules: readonly CompiledRule[]): ValueSchema {
  return Object.assign({}, ...rules.map(({ schema }) => schema)) as ValueSchema;
}

function nestedType(owner: DtoClass, name: string): DtoClass {
  return defaultMetadataStorage.findTypeMetadata(owner, name).typeFunction() as DtoClass;
}

/** What `@Transform` says. */
function conversionOf(owner: DtoClass, name: string): Field['convert'] {
  const type = TransformationType.PLAIN_TO_CLASS;
  const found = defaultMetadataStorage.findTransformMetadatas(owner, name, type);
  if (found.length === 0) return undefined;
  return (value, obj) => {
    const params = { key: name, obj, type, options: {} } satisfies Omit<TransformFnParams, 'value'>;
    return found.reduce<unknown>((last, one) => one.transformFn({ ...params, value: last }), value);
  };
}
