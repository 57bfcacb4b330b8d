import type { ValueSchema } from '@weir/ops';

export const BOOLEAN: ValueSchema = { type: 'boolean' };
export const STRING: ValueSchema = { type: 'string' };
export const STRINGS: ValueSchema = { type: 'array', items: STRING };
/** An object that Kubernetes validates. */
export const OBJECT: ValueSchema = { type: 'object' };
export const OBJECTS: ValueSchema = { type: 'array', items: OBJECT };
/** Labels, annotations, node selectors. */
export const STRING_MAP: ValueSchema = { type: 'object', additionalProperties: STRING };
export const QUANTITY: ValueSchema = { type: 'string', pattern: '^[0-9]+(?:\\.[0-9]+)?[a-zA-Z]*$' };
export const PORT: ValueSchema = { type: 'integer', minimum: 1, maximum: 65535 };
/** Empty, or the name of an object. */
export const NAME: ValueSchema = {
  type: 'string',
  pattern: '^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)?$',
  maxLength: 253,
};

export function enumOf(...values: readonly string[]): ValueSchema {
  return { enum: values };
}

export function integer(minimum: number, maximum: number): ValueSchema {
  return { type: 'integer', minimum, maximum };
}

/** An object with these properties and no others. None is required, because values.yaml has all of them. */
export function object(properties: Readonly<Record<string, ValueSchema>>): ValueSchema {
  return { type: 'object', properties, additionalProperties: false };
}
