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

/**
 * Where `readDto` finds the check of a field that failed: under this name in the contexts of class-validator's errors.
 */
export const CHECK = 'check';

function checked(check: Check): PropertyDecorator {
  const validator = {
    validate: (value: unknown, of?: ValidationArguments) =>
      check.faults(value, of?.object).length === 0,
    // Never shown, but an error without a message gets no context.
    defaultMessage: () => CHECK,
  };
  return ValidateBy({ name: CHECK, validator }, { context: { check } });
}

/** A list of objects; what is in them is the business of their own class. */
const objects = listOf(object);

const whenPresent = ValidateIf((_dto, value) => value !== undefined);

function described(check: Check, about: Partial<FieldDescription>): PropertyDecorator {
  return (prototype, name) => {
    registerField(prototype, { required: true, list: false, ...about, check, name: String(name) });
  };
}

/** A field that must be there. */
export function Field(check: Check): PropertyDecorator {
  return applyDecorators(checked(check), described(check, {}));
}

/** A field that may be left out, but not be null unless `check` says so. */
export function OptionalField(check: Check): PropertyDecorator {
  return applyDecorators(whenPresent, checked(check), described(check, { required: false }));
}

/**
 * A field that holds an object of another class.
 * @param check of the object beside its own fields; at least that it is one.
 */
export function ObjectField(type: () => DtoClass, check = object): PropertyDecorator {
  return applyDecorators(checked(check), ...nested(type), described(check, { type }));
}

/** A field that holds a list of objects of another class. @param check of the list beside its items' own fields. */
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

/** A field that may be left out and holds a list of objects of another class. */
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

/** A part of the path that is an integer; a text that is none stays a text, and the check finds it. */
export function PathInteger(lowest: number, highest: number): PropertyDecorator {
  const convert = ({ value }: { value: unknown }): unknown =>
    typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  const check = integer(lowest, highest);
  return applyDecorators(Transform(convert), checked(check), described(check, {}));
}

/** Above a field: its text is turned into another form where `check` allows it, and stays as it is otherwise. */
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
