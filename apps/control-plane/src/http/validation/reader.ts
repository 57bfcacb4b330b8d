import type { CompiledRule } from './compiled-rule.js';
import type { DtoClass } from './dto-class.js';
import { type Fault, MAX_FAULTS } from './fault.js';
import { type Field, fieldsOf } from './fields-of.js';

type Fields = Record<string, unknown>;

/**
 * Reads an object of a class from parsed JSON. It adds the faults to `faults`, in the order of the fields, and looks no
 * further when there are `MAX_FAULTS`.
 * @returns the instance. Where it has faults, it holds what was sent.
 */
export type Reader<T> = (plain: unknown, faults: Fault[]) => T;

const READERS = new WeakMap<object, Reader<object>>();

/** The reader of a class, compiled when it is asked for first. It is fast enough for millions of objects. */
export function readerOf<T extends object>(type: DtoClass<T>): Reader<T> {
  const reader = READERS.get(type) ?? compile(type);
  READERS.set(type, reader);
  return reader as Reader<T>;
}

function compile<T extends object>(type: DtoClass<T>): Reader<T> {
  const fields = fieldsOf(type).map((field) => new FieldReader(field, [field.name]));
  const names = new Set(fields.map(({ name }) => name));
  return (plain, faults) => {
    if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
      faults.push(NO_OBJECT);
      return plain as T;
    }
    addUnknownFields(plain, names, faults);
    const dto = new type();
    for (const field of fields) {
      if (faults.length >= MAX_FAULTS) break;
      const items = field.read(plain as Fields, dto as Fields, faults);
      if (items !== null) field.readItems(items, 0, items.length, dto as Fields, faults);
    }
    return dto;
  };
}

const NO_OBJECT: Fault = { loc: [], msg: 'Must be an object', type: 'object_type' };

function addUnknownFields(plain: object, names: ReadonlySet<string>, faults: Fault[]): void {
  for (const name in plain) {
    if (names.has(name)) continue;
    faults.push({ loc: [name], msg: 'Unknown field', type: 'extra_forbidden' });
    if (faults.length >= MAX_FAULTS) return;
  }
}

/** Reads one field of an object. */
export class FieldReader {
  readonly name: string;
  private readonly readItem: Reader<object> | undefined;

  /** @param loc location of the field in the object. */
  constructor(
    private readonly field: Field,
    private readonly loc: readonly string[],
  ) {
    this.name = field.name;
    this.readItem = field.type && readerOf(field.type);
  }

  /** Reads the value into `dto`. @returns the items of its list, for `readItems`; null when there is none. */
  read(source: Fields, dto: Fields, faults: Fault[]): readonly unknown[] | null {
    const { name, field, readItem } = this;
    const value = convert(field, source);
    if (value === undefined) {
      if (field.required) faults.push({ loc: this.loc, msg: 'Field is required', type: 'missing' });
      return null;
    }
    dto[name] = value;
    if (value === null && field.nullable) return null;
    const fault = firstFault(field.rules, value, source);
    if (fault !== null) {
      faults.push({ ...fault, loc: this.loc });
      return null;
    }
    if (field.isList) {
      if (readItem !== undefined) dto[name] = [];
      return value as unknown[];
    }
    if (readItem === undefined) return null;
    const known = faults.length;
    dto[name] = readItem(value, faults);
    prefix(faults, known, this.loc);
    return null;
  }

  /** Reads the items from `start` up to `end`. */
  readItems(
    items: readonly unknown[],
    start: number,
    end: number,
    dto: Fields,
    faults: Fault[],
  ): void {
    const { readItem } = this;
    const { itemRules } = this.field;
    for (let i = start; i < end && faults.length < MAX_FAULTS; i++) {
      const known = faults.length;
      const fault = firstFault(itemRules, items[i], dto);
      if (fault !== null) faults.push(fault);
      else if (readItem) (dto[this.name] as unknown[]).push(readItem(items[i], faults));
      if (faults.length > known) prefix(faults, known, [...this.loc, String(i)]);
    }
  }
}

function convert({ name, convert: converted }: Field, source: Fields): unknown {
  const value = source[name];
  return converted === undefined || value === undefined ? value : converted(value, source);
}

function firstFault(rules: readonly CompiledRule[], value: unknown, owner: object): Fault | null {
  for (const rule of rules) {
    const fault = rule.check(value, owner);
    if (fault !== null) return fault;
  }
  return null;
}

/** Puts `loc` before the locations of the faults from position `start`. */
function prefix(faults: Fault[], start: number, loc: readonly string[]): void {
  for (let i = start; i < faults.length; i++) {
    faults[i] = { ...faults[i], loc: [...loc, ...faults[i].loc] };
  }
}
