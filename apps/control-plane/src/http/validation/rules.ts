import 'reflect-metadata';
// The thread of POST /init/ loads this file too. From '@nestjs/common' it would load twice as many modules.
import { applyDecorators } from '@nestjs/common/decorators/core/apply-decorators.js';
import { MAX_ID } from '@weir/config-model';
import { parseTime } from '@weir/ops/parse-time';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import type { DtoClass } from './dto.js';
import type { FaultType } from './fault.js';

/*
 * The decorators of DTO fields: those of class-validator and class-transformer, with the fault types and texts of the
 * contract and the JSON schema in their options. The rules of a field are checked from its lowest decorator up, and the
 * first one that is broken is the fault. A field is required unless it has `@Optional()` or `@IsOptional()`.
 */

/** JSON Schema of a value, as OpenAPI writes it. */
export type ValueSchema = Readonly<Record<string, unknown>>;

/** `context` of a decorator of class-validator. */
export interface RuleContext {
  /** Type of the fault of a value that breaks the rule. */
  readonly fault: FaultType | ((args: ValidationArguments) => FaultType);
  /** What the rule adds to the schema of the value. */
  readonly schema: ValueSchema;
}

/** `{ each: true }`: the rule is for each item of an array. */
type Each = Pick<ValidationOptions, 'each'>;

function says(
  message: NonNullable<ValidationOptions['message']>,
  fault: RuleContext['fault'],
  schema: ValueSchema = {},
  each: Each = {},
): ValidationOptions {
  return { ...each, message, context: { fault, schema } satisfies RuleContext };
}

/** An integer from `lowest` to `highest`. `24.0` is accepted, because JSON has one number type. */
export function IsInteger(lowest: number, highest: number, each?: Each): PropertyDecorator {
  const msg = `Must be an integer from ${lowest} to ${highest}`;
  return applyDecorators(
    IsInt(says(msg, 'int_type', { type: 'integer' }, each)),
    Min(lowest, says(msg, 'greater_than_equal', { minimum: lowest }, each)),
    Max(highest, says(msg, 'less_than_equal', { maximum: highest }, each)),
  );
}

/** Of an answer, which is not read. */
export function IsAnswered(schema: ValueSchema, each?: Each): PropertyDecorator {
  return Rule(() => null, schema, each);
}

/** Id of a profile, block page, application or category. */
export function IsId(each?: Each): PropertyDecorator {
  return IsInteger(0, MAX_ID, each);
}

export function IsFlag(): PropertyDecorator {
  return IsBoolean(says('Must be true or false', 'bool_type', { type: 'boolean' }));
}

/** One of the given strings, or one of the given integers. */
export function IsOneOf(choices: readonly string[] | readonly number[]): PropertyDecorator {
  const msg = `Must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  const type =
    typeof choices[0] === 'string'
      ? IsString(says(msg, 'string_type', { type: 'string' }))
      : IsInt(says(msg, 'int_type', { type: 'integer' }));
  return applyDecorators(type, IsIn(choices, says(msg, 'enum', { enum: choices })));
}

/** A string that `accepts` allows; any, if it is not given. @param what completes the message "Must be …". */
export function IsText(
  what: string,
  accepts: (text: string) => boolean = () => true,
  schema: ValueSchema = {},
): PropertyDecorator {
  const msg = `Must be ${what}`;
  return applyDecorators(
    IsString(says(msg, 'string_type', { type: 'string' })),
    Rule(
      (value) =>
        typeof value === 'string' && accepts(value) ? null : { type: 'value_error', msg },
      schema,
    ),
  );
}

/** In every zone a day after the year 0, which calendars do not agree about. */
const FIRST_TIME_MS = Date.parse('0001-01-02T12:00:00Z');

/** A time of RFC 3339 with its zone. `parseTime` reads it. */
export function IsTime(): PropertyDecorator {
  const what = 'a time of RFC 3339 with its zone, such as 2027-01-31T12:00:00Z';
  // `parseTime` takes more forms than RFC 3339 has. An answer may have it in another zone, or a month later.
  const accepts = (text: string): boolean =>
    /^(?!9999).*T\d\d:\d\d:\d\d/i.test(text) && parseTime(text) >= FIRST_TIME_MS;
  return IsText(what, accepts, { format: 'date-time' });
}

/** What is wrong with a value. */
export interface Wrong {
  readonly type: FaultType;
  readonly msg: string;
}

/**
 * A rule that class-validator does not have.
 * @param judge null: the value is right. `owner` is the object that contains the field; its other fields are unchecked.
 */
export function Rule(
  judge: (value: unknown, owner: object) => Wrong | null,
  schema: ValueSchema = {},
  each?: Each,
): PropertyDecorator {
  const judged = ({ value, object }: ValidationArguments): Wrong => judge(value, object) as Wrong;
  const validate = (value: unknown, args?: ValidationArguments): boolean =>
    judge(value, args?.object ?? {}) === null;
  return ValidateBy(
    { name: 'rule', validator: { validate } },
    says(
      (args) => judged(args).msg,
      (args) => judged(args).type,
      schema,
      each,
    ),
  );
}

/** Most items of a list (decisions §1): all other changes wait until it is made and applied. */
export const MAX_ITEMS = 10_000;

/** An array. @param max number of items; Infinity: any number. */
export function IsList(max = MAX_ITEMS): PropertyDecorator {
  const msg = `Must have at most ${max} items`;
  return applyDecorators(
    IsArray(says('Must be an array', 'list_type', { type: 'array' })),
    ...(Number.isFinite(max) ? [ArrayMaxSize(max, says(msg, 'too_long', { maxItems: max }))] : []),
  );
}

function IsJsonObject(each?: Each): PropertyDecorator {
  return IsObject(says('Must be an object', 'object_type', { type: 'object' }, each));
}

/** An object of another class. */
export function IsNested(type: () => DtoClass): PropertyDecorator {
  return applyDecorators(IsJsonObject(), ValidateNested(), Type(type), nested(type));
}

/** An array of objects of another class. */
export function IsNestedList(type: () => DtoClass, max?: number): PropertyDecorator {
  const each = { each: true };
  return applyDecorators(
    IsList(max),
    IsJsonObject(each),
    ValidateNested(each),
    Type(type),
    nested(type),
  );
}

const NESTED = 'weir:nested';

/** What `@Type` says, which class-transformer tells nobody. */
function nested(type: () => DtoClass): PropertyDecorator {
  return Reflect.metadata(NESTED, type);
}

/** Class of the object, or of the items of the list; undefined for plain values. */
export function nestedTypeOf(owner: DtoClass, field: string): DtoClass | undefined {
  const type = Reflect.getMetadata(NESTED, owner.prototype as object, field) as
    | (() => DtoClass)
    | undefined;
  return type?.();
}

/** @returns the value itself when it cannot be converted. */
export type Conversion = (value: unknown) => unknown;

const CONVERSION = 'weir:conversion';

/** The value is converted before its rules are checked. */
export function Convert(conversion: Conversion): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => conversion(value)),
    Reflect.metadata(CONVERSION, conversion),
  );
}

export function conversionOf(owner: DtoClass, field: string): Conversion | undefined {
  return Reflect.getMetadata(CONVERSION, owner.prototype as object, field) as
    | Conversion
    | undefined;
}

/** Whether the field is there; it may be null only with `@IsOptional()`. */
export const isPresent = (_dto: object, value: unknown): boolean => value !== undefined;

/** The field may be missing, but not null. `@IsOptional()` of class-validator allows both. */
export function Optional(): PropertyDecorator {
  return ValidateIf(isPresent);
}

const REPLACEMENT = 'weir:replacement';

/** The field must be there, unless the other one is. A null that is allowed counts as absent. */
export function RequiredWithout(other: string): PropertyDecorator {
  return applyDecorators(Optional(), Reflect.metadata(REPLACEMENT, other));
}

export function replacementOf(owner: DtoClass, field: string): string | undefined {
  return Reflect.getMetadata(REPLACEMENT, owner.prototype as object, field) as string | undefined;
}

/** The field stands in place of others, which must not be there. */
export function InPlaceOf(...others: readonly string[]): PropertyDecorator {
  return Rule((_value, owner) => {
    const other = others.find(
      (name) => ((owner as Record<string, unknown>)[name] ?? null) !== null,
    );
    const msg = `Must not be given together with ${other}`;
    return other === undefined ? null : { type: 'value_error', msg };
  });
}

/** A parameter of a query that is `true` or `false`. */
export function FlagParameter(): PropertyDecorator {
  const flags = new Map<unknown, boolean>([
    ['true', true],
    ['false', false],
  ]);
  return applyDecorators(
    Convert((value) => flags.get(value) ?? value),
    IsFlag(),
  );
}

const ABSENT = (): boolean => true;

/** In an answer, the field is there only where it applies. @param where it does not, for the reader of the class. */
export function AbsentWhere(_where: string): PropertyDecorator {
  return ValidateIf(ABSENT);
}

/** Whether a condition is that of `AbsentWhere`. */
export function isAbsence(condition: unknown): boolean {
  return condition === ABSENT;
}

/** An integer parameter of a path or query. Any other text is not converted, so that the rule reports it. */
export function IntegerParameter(lowest: number, highest: number): PropertyDecorator {
  return applyDecorators(
    Convert((value) =>
      typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value,
    ),
    IsInteger(lowest, highest),
  );
}
