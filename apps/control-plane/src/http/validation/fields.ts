import { applyDecorators } from '@nestjs/common';
import { Transform, Type } from 'class-transformer';
import { ValidateBy, ValidateIf, ValidateNested, type ValidationArguments } from 'class-validator';
import { type Check, integer, listOf, object } from './checks.js';
import {
  type DtoClass,
  type FieldDescription,
  registerConversion,
  registerField,
} from './field-registry.js';

/** Key in the contexts of class-validator's errors, under which `readDto` finds the check that failed. */
export const CHECK = 'check';

function checked(check: Check): PropertyDecorator {
  const validator = {
    validate: (value: unknown, of?: ValidationArguments) =>
      check.faults(value, of?.object).length === 0,
    // Never shown, but class-validator gives no context to an error without a message.
    defaultMessage: () => CHECK,
  };
  return ValidateBy({ name: CHECK, validator }, { context: { check } });
}

/** An array of objects. Their class checks their fields. */
const objects = listOf(object);

const whenPresent = ValidateIf((_dto, value) => value !== undefined);

function described(check: Check, about: Partial<FieldDescription>): PropertyDecorator {
  return (prototype, name) => {
    registerField(prototype, { required: true, list: false, ...about, check, name: String(name) });
  };
}

/** A required field. */
export function Field(check: Check): PropertyDecorator {
  return applyDecorators(checked(check), described(check, {}));
}

/** An optional field. It may be null only if `check` allows it. */
export function OptionalField(check: Check): PropertyDecorator {
  return applyDecorators(whenPresent, checked(check), described(check, { required: false }));
}

/**
 * A field with an object of another class.
 * @param check an additional check of the object; by default that it is an object.
 */
export function ObjectField(type: () => DtoClass, check = object): PropertyDecorator {
  return applyDecorators(checked(check), ...nested(type), described(check, { type }));
}

/** A field with an array of objects of another class. @param check an additional check of the array. */
export function ObjectListField(type: () => DtoClass, check = objects): PropertyDecorator {
  return applyDecorators(checked(check), ...nested(type), described(check, { type, list: true }));
}

export function OptionalObjectField(type: () => DtoClass): PropertyDecorator {
  return applyDecorators(
    whenPresent,
    checked(object),
    ...nested(type),
    described(object, { type, required: false }),
  );
}

/** An optional field with an array of objects of another class. */
export function OptionalObjectListField(type: () => DtoClass): PropertyDecorator {
  return applyDecorators(
    whenPresent,
    checked(objects),
    ...nested(type),
    described(objects, { type, list: true, required: false }),
  );
}

function nested(type: () => DtoClass): PropertyDecorator[] {
  return [ValidateNested(), Type(type)];
}

/** An integer path parameter. Any other text is not converted, so that the check reports it. */
export function PathInteger(lowest: number, highest: number): PropertyDecorator {
  const parse = (value: unknown): unknown =>
    typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  const check = integer(lowest, highest);
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => parse(value)),
    checked(check),
    described(check, { parse }),
  );
}

/** Converts the string of a field if `check` allows it. Write it above the field decorator. */
export function Converted(check: Check, convert: (text: string) => unknown): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }): unknown =>
      check.faults(value).length === 0 ? convert(value as string) : value,
    ),
    (prototype: object, name: string | symbol) => {
      registerConversion(prototype, String(name), convert);
    },
  );
}
