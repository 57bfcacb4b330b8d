import type { Check } from './checks.js';

/** A class whose instances are read from JSON. */
export type DtoClass<T extends object = object> = new () => T;

/**
 * What the decorators said of one field: the source of its validation, of compiled readers and of the OpenAPI document.
 */
export interface FieldDescription {
  readonly name: string;
  readonly required: boolean;
  readonly check: Check;
  /** Class of the object in the field, or of the items of its list; undefined: the field holds plain values. */
  readonly type?: (() => DtoClass) | undefined;
  readonly list: boolean;
  /** Turns a text that `check` allows into the form in which the instance has it. */
  readonly convert?: ((text: string) => unknown) | undefined;
}

const FIELDS = new WeakMap<object, FieldDescription[]>();

export function registerField(prototype: object, field: FieldDescription): void {
  const fields = FIELDS.get(prototype);
  if (fields) fields.push(field);
  else FIELDS.set(prototype, [field]);
}

/** Says how a field that is registered already is converted. */
export function registerConversion(
  prototype: object,
  name: string,
  convert: (text: string) => unknown,
): void {
  const fields = FIELDS.get(prototype) ?? [];
  const at = fields.findIndex((field) => field.name === name);
  if (at < 0) throw new Error(`${name} is converted before it is a field: the decorators' order`);
  fields[at] = { ...fields[at], convert };
}

/** The fields of a class in the order in which they are written, those of its base class first. */
export function fieldsOf(type: DtoClass): readonly FieldDescription[] {
  const found: FieldDescription[] = [];
  let prototype: unknown = type.prototype;
  while (typeof prototype === 'object' && prototype !== null && prototype !== Object.prototype) {
    found.unshift(...(FIELDS.get(prototype) ?? []));
    prototype = Object.getPrototypeOf(prototype);
  }
  return found;
}
