import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { type Check, listOf, object } from './checks.js';
import { type CompiledReader, compileReader } from './compiled-reader.js';
import { prefixFaults, type Fault } from './fault.js';
import { type DtoClass } from './field-registry.js';
import { CHECK } from './fields.js';
import { removeUnsafeValues } from './remove-unsafe-values.js';

/** The value that was read. Use it only when there is no fault. */
export interface ReadResult<T> {
  readonly value: T;
  readonly faults: readonly Fault[];
}

/** Reads an object of a class from parsed JSON. It may change `plain`. It reports all faults, not only the first. */
export function readDto<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T> {
  const wrongType = object.faults(plain);
  if (wrongType.length > 0) return { value: plain as T, faults: wrongType };
  const pruned = removeUnsafeValues(plain);
  const value = plainToInstance(type, plain);
  const errors = validateSync(value, { whitelist: true, forbidNonWhitelisted: true });
  return { value, faults: [...pruned, ...errors.flatMap(toFaults)] };
}

/** Like `readDto`, but fast for valid values, which may be long. */
export function read<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T> {
  const value = compiledReader(type)(plain);
  return value === null ? readDto(type, plain) : { value, faults: [] };
}

/** An array of any items. */
const list = listOf({ schema: {}, faults: () => [] });

/** Like `read`, for an array of objects of a class. */
export function readList<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T[]> {
  const wrongType = list.faults(plain);
  if (wrongType.length > 0) return { value: [], faults: wrongType };
  const readings = (plain as unknown[]).map((item) => read(type, item));
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

/** Converts an error of class-validator to faults. */
function toFaults(error: ValidationError): Fault[] {
  return prefixFaults([error.property], ownFaults(error));
}

function ownFaults(error: ValidationError): Fault[] {
  if (error.constraints?.['whitelistValidation'] !== undefined) {
    return [{ loc: [], msg: 'Unknown field', type: 'extra_forbidden' }];
  }
  const context = error.contexts?.[CHECK] as { check: Check } | undefined;
  if (context === undefined) return (error.children ?? []).flatMap(toFaults);
  if (error.value === undefined) {
    return [{ loc: [], msg: 'Field is required', type: 'missing' }];
  }
  const own = context.check.faults(error.value, error.target);
  // The items of an array that are objects are still checked. A value that is not an array is not.
  if (own.some((fault) => fault.loc.length === 0)) return [...own];
  const wrongType = new Set(own.map((fault) => fault.loc[0]));
  const rest = (error.children ?? []).filter((child) => !wrongType.has(child.property));
  return [...own, ...rest.flatMap(toFaults)];
}
