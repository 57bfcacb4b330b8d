import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { type Check, listOf, object } from './checks.js';
import { type CompiledReader, compileReader } from './compiled-reader.js';
import { type Fault, MAX_FAULTS, prefixFaults } from './fault.js';
import { type DtoClass, fieldsOf } from './field-registry.js';
import { CHECK } from './fields.js';
import { removeUnsafeValues } from './remove-unsafe-values.js';

/** The value that was read. Use it only when there is no fault. */
export interface ReadResult<T> {
  readonly value: T;
  readonly faults: readonly Fault[];
}

/**
 * Reads an object of a class from parsed JSON. It may change `plain`. It reports all faults, not only the first, but
 * looks no further when there are `MAX_FAULTS`.
 */
export function readDto<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T> {
  const wrongType = object.faults(plain);
  if (wrongType.length > 0) return { value: plain as T, faults: wrongType };
  const unknown = unknownFields(type, plain as object);
  if (unknown.length >= MAX_FAULTS) return { value: plain as T, faults: unknown };
  const { lists, rest } = takeObjectLists(type, plain as Readonly<Record<string, unknown>>);
  const faults = removeUnsafeValues(rest);
  const value = plainToInstance(type, rest);
  const errors = validateSync(value, { whitelist: true, forbidNonWhitelisted: true });
  faults.push(...errors.flatMap(toFaults));
  for (const { name, reading } of lists) {
    (value as Record<string, unknown>)[name] = reading.value;
    faults.push(...prefixFaults([name], reading.faults));
  }
  return { value, faults };
}

/** The faults of the first unknown fields, at most `MAX_FAULTS`. */
function unknownFields(type: DtoClass, plain: object): Fault[] {
  const known = new Set(fieldsOf(type).map(({ name }) => name));
  const names = Object.keys(plain).filter((name) => !known.has(name));
  return names.slice(0, MAX_FAULTS).map((name) => prefixFaults([name], [UNKNOWN_FIELD])[0]);
}

/** Lists of objects are read one item after the other: class-validator would read all, and slowly. */
function takeObjectLists(
  type: DtoClass,
  plain: Readonly<Record<string, unknown>>,
): {
  readonly lists: { readonly name: string; readonly reading: ReadResult<object[]> }[];
  /** The other fields, with empty lists. */
  readonly rest: Record<string, unknown>;
} {
  const rest = { ...plain };
  const lists = fieldsOf(type).flatMap(({ name, check, type: item, list: isList }) => {
    const items = plain[name];
    if (!isList || item === undefined || !Array.isArray(items)) return [];
    rest[name] = [];
    const own = check.faults(items, plain);
    const isWhole = own.length > 0 && own.every(({ loc }) => loc.length === 0);
    const reading = isWhole ? { value: [], faults: own } : readItems(item(), items);
    return [{ name, reading }];
  });
  return { lists, rest };
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
  return readItems(type, plain as unknown[]);
}

function readItems<T extends object>(
  type: DtoClass<T>,
  items: readonly unknown[],
): ReadResult<T[]> {
  const value: T[] = [];
  const faults: Fault[] = [];
  for (let i = 0; i < items.length && faults.length < MAX_FAULTS; i++) {
    const reading = read(type, items[i]);
    value.push(reading.value);
    faults.push(...prefixFaults([String(i)], reading.faults));
  }
  return { value, faults: faults.slice(0, MAX_FAULTS) };
}

const UNKNOWN_FIELD: Fault = { loc: [], msg: 'Unknown field', type: 'extra_forbidden' };

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
    return [UNKNOWN_FIELD];
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
