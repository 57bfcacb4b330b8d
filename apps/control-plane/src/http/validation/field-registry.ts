import type { Check } from './checks.js';

/** A class whose instances are read from JSON. */
export type DtoClass<T extends object = object> = new () => T;

/** What the decorators declare of a field. Validation, compiled readers and the OpenAPI document are made from it. */
export interface FieldDescription {
  readonly name: string;
  readonly required: boolean;
  readonly check: Check;
  /** Class of the object, or of the items of the array; undefined for plain values. */
  readonly type?: (() => DtoClass) | undefined;
  readonly list: boolean;
  /** Converts a value before it is checked. */
  readonly parse?: ((value: unknown) => unknown) | undefined;
  /** Converts a string that `check` allows to the value in the instance. */
  readonly convert?: ((text: string) => unknown) | undefined;
}

const FIELDS = new WeakMap<object, FieldDescription[]>();

export function registerField(prototype: object, field: FieldDescription): void {
  const fields = FIELDS.get(prototype);
  if (fields) fields.push(field);
  else FIELDS.set(prototype, [field]);
}

/** Adds a conversion to a registered field. */
export function registerConversion(
  prototype: object,
  name: string,
  convert: (text: string) => unknown,
): void {
  const fields = FIELDS.get(prototype) ?? [];
  const at = fields.findIndex((field) => field.name === name);
  if (at < 0)
    throw new Error(
      `${name} must be declared a field before its conversion: exchange the decorators`,
    );
  fields[at] = { ...fields[at], convert };
}

/** The fields of a class in the order of their declaration, those of its base class first. */
export function fieldsOf(type: DtoClass): readonly FieldDescription[] {
  const found: FieldDescription[] = [];
  let prototype: unknown = type.prototype;
  while (typeof prototype === 'object' && prototype !== null && prototype !== Object.prototype) {
    found.unshift(...(FIELDS.get(prototype) ?? []));
    prototype = Object.getPrototypeOf(prototype);
  }
  return found;
}
