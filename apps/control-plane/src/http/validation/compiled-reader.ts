import { object } from './checks.js';
import { type FieldDescription, fieldsOf } from './field-registry.js';
import type { DtoClass } from './field-registry.js';

/** Converts a plain object to an instance; null when it is not valid. */
export type CompiledReader<T> = (plain: unknown) => T | null;

type Fields = Record<string, unknown>;

/**
 * Compiles a reader of one class that is fast enough for millions of objects. It uses the same field descriptions as
 * `readDto`, and returns an instance exactly when `readDto` finds no fault. Use `readDto` to get the faults.
 */
export function compileReader<T extends object>(type: DtoClass<T>): CompiledReader<T> {
  const fields = fieldsOf(type).map(compileField);
  const names = new Set(fields.map(({ name }) => name));
  return (plain) => {
    if (object.faults(plain).length > 0) return null;
    const source = plain as Fields;
    for (const key in source) if (!names.has(key)) return null;
    const instance = new type();
    for (const field of fields) if (!field.read(source, instance as Fields)) return null;
    return instance;
  };
}

interface CompiledField {
  readonly name: string;
  /** Copies the field of `source` to `into`. @returns false when it is not valid. */
  readonly read: (source: Fields, into: Fields) => boolean;
}

function compileField({
  name,
  required,
  check,
  parse,
  type,
  list,
  convert,
}: FieldDescription): CompiledField {
  const readItem = type && compileReader(type());
  return {
    name,
    read: (source, into) => {
      const value = parse === undefined ? source[name] : parse(source[name]);
      if (value === undefined) return !required;
      if (check.faults(value, source).length > 0) return false;
      if (readItem === undefined) {
        into[name] = convert === undefined ? value : convert(value as string);
        return true;
      }
      const read = readNested(readItem, value, list);
      into[name] = read;
      return read !== null;
    },
  };
}

function readNested(read: CompiledReader<object>, value: unknown, list: boolean): unknown {
  if (!list) return read(value);
  const items: object[] = [];
  for (const plain of value as unknown[]) {
    const item = read(plain);
    if (item === null) return null;
    items.push(item);
  }
  return items;
}
