import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { type Check, listOf, object } from './checks.js';
import { type CompiledReader, compileReader } from './compiled-reader.js';
import { prefixFaults, type Fault } from './fault.js';
import { CHECK } from './fields.js';
import { type DtoClass } from './field-registry.js';
import { removeUnsafeValues } from './remove-unsafe-values.js';

/** What was read, usable only when there is no fault. */
export interface ReadResult<T> {
  readonly value: T;
  readonly faults: readonly Fault[];
}

/** Reads an object of a class from parsed JSON, which it may change. Every fault is reported, not only the first. */
export function readDto<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T> {
  const misshapen = object.faults(plain);
  if (misshapen.length > 0) return { value: plain as T, faults: misshapen };
  const pruned = removeUnsafeValues(plain);
  const value = plainToInstance(type, plain);
  const errors = validateSync(value, { whitelist: true, forbidNonWhitelisted: true });
  return { value, faults: [...pruned, ...errors.flatMap(toFaults)] };
}

/** As `readDto`, and fast where nothing is wrong: bodies may be long. */
export function readBody<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T> {
  const value = compiledReader(type)(plain);
  return value === null ? readDto(type, plain) : { value, faults: [] };
}

/** A list of anything. */
const list = listOf({ schema: {}, faults: () => [] });

/** Reads a list of objects of a class, as `readBody` does. */
export function readBodyList<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T[]> {
  const misshapen = list.faults(plain);
  if (misshapen.length > 0) return { value: [], faults: misshapen };
  const readings = (plain as unknown[]).map((item) => readBody(type, item));
  return {
    value: readings.map((reading) => reading.value),
    faults: readings.flatMap((reading, i) => prefixFaults([String(i)], reading.faults)),
  };
}

const COMPILED = new WeakMap<object, CompiledReader<object>>();

function compiledReader<T extends object>(type: DtoClass<T>): CompiledReader<T> {
  const known = COMPILED.get(type) ?? compileReader(type);
  COMPILED.set(type, known);
  return known as CompiledReader<T>;
}

/** The one way from class-validator's errors to the faults of a 422 answer. */
function toFaults(error: ValidationError): Fault[] {
  return prefixFaults([error.property], ownFaults(error));
}

function ownFaults(error: ValidationError): Fault[] {
  if (error.constraints?.['whitelistValidation'] !== undefined) {
    return [{ loc: [], msg: 'No such field', type: 'extra_forbidden' }];
  }
  const context = error.contexts?.[CHECK] as { check: Check } | undefined;
  if (context === undefined) return (error.children ?? []).flatMap(toFaults);
  if (error.value === undefined) {
    return [{ loc: [], msg: 'Field is required', type: 'missing' }];
  }
  const own = context.check.faults(error.value, error.target);
  // Of a list, the items that are objects are still worth reading; a value that is not even a list is not.
  if (own.some((fault) => fault.loc.length === 0)) return [...own];
  const misshapen = new Set(own.map((fault) => fault.loc[0]));
  const rest = (error.children ?? []).filter((child) => !misshapen.has(child.property));
  return [...own, ...rest.flatMap(toFaults)];
}
