import type { DtoClass } from './dto.js';
import { type Fault, MAX_FAULTS } from './fault.js';
import { type Field, type FieldRule, fieldsOf } from './fields.js';
import { IsList } from './rules.js';

type Fields = Record<string, unknown>;

/** The value that was read. Use it only when there is no fault. */
export interface ReadResult<T> {
  readonly value: T;
  readonly faults: readonly Fault[];
}

/** Reads an object of a class from parsed JSON. It reports all faults, not only the first, but at most `MAX_FAULTS`. */
export function read<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T> {
  const faults: Fault[] = [];
  return { value: readerOf(type).read(plain, faults), faults };
}

/** Like `read`, for an array of objects of a class. */
export function readList<T extends object>(type: DtoClass<T>, plain: unknown): ReadResult<T[]> {
  const [field] = fieldsOf(Whole);
  const faults: Fault[] = [];
  const dto: Record<string, unknown> = {};
  const reader = new FieldReader({ ...field, type, isList: true }, []);
  reader.read({ items: plain }, dto, faults);
  return { value: dto['items'] as T[], faults };
}

/** A body that is an array. */
class Whole {
  @IsList() items!: unknown[];
}

const READERS = new WeakMap<object, ObjectReader<object>>();

/** The reader of a class, made when it is asked for first. */
export function readerOf<T extends object>(type: DtoClass<T>): ObjectReader<T> {
  const reader = READERS.get(type) ?? new ObjectReader(type);
  READERS.set(type, reader);
  return reader as ObjectReader<T>;
}

/**
 * Reads objects of a class from parsed JSON. It adds the faults to `faults`, in the order of the fields, and looks no
 * further when there are `MAX_FAULTS`. It returns the instance. Where this has faults, it holds what was sent.
 */
class ObjectReader<T extends object> {
  private readonly fields: readonly FieldReader[];
  private readonly names: ReadonlySet<string>;

  constructor(private readonly type: DtoClass<T>) {
    this.fields = fieldsOf(type).map((field) => new FieldReader(field, [field.name]));
    this.names = new Set(this.fields.map(({ name }) => name));
  }

  /** It is fast enough for millions of objects. */
  read(plain: unknown, faults: Fault[]): T {
    if (!isObject(plain)) {
      faults.push(NO_OBJECT);
      return plain as T;
    }
    addUnknownFields(plain, this.names, faults);
    const dto = new this.type();
    for (const field of this.fields) field.read(plain, dto as Fields, faults);
    return dto;
  }
}

function isObject(plain: unknown): plain is Fields {
  return typeof plain === 'object' && plain !== null && !Array.isArray(plain);
}

const NO_OBJECT: Fault = { loc: [], msg: 'Must be an object', type: 'object_type' };

function addUnknownFields(plain: object, names: ReadonlySet<string>, faults: Fault[]): void {
  for (const name in plain) {
    if (names.has(name)) continue;
    faults.push({ loc: [name], msg: 'Unknown field', type: 'extra_forbidden' });
    if (faults.length >= MAX_FAULTS) return;
  }
}

class FieldReader {
  readonly name: string;
  private readonly item: ObjectReader<object> | undefined;

  /** @param loc location of the field in the object. */
  constructor(
    private readonly field: Field,
    private readonly loc: readonly string[],
  ) {
    this.name = field.name;
    this.item = field.type && readerOf(field.type);
  }

  /** Reads the value into `dto`. */
  read(source: Fields, dto: Fields, faults: Fault[]): void {
    if (faults.length >= MAX_FAULTS) return;
    const { name, field, item } = this;
    const value = convert(field, source);
    if (value !== undefined) dto[name] = value;
    if (this.isAbsent(value)) {
      const { required, requiredWithout: other } = field;
      const isMissing = required || (other !== undefined && this.isAbsent(source[other]));
      if (isMissing) faults.push({ loc: this.loc, msg: 'Field is required', type: 'missing' });
      return;
    }
    const fault = firstFault(field.rules, value, source);
    if (fault !== null) {
      faults.push({ ...fault, loc: this.loc });
      return;
    }
    if (field.isList) {
      if (item !== undefined) dto[name] = [];
      this.readItems(value as unknown[], dto, faults);
    } else if (item !== undefined) {
      const known = faults.length;
      dto[name] = item.read(value, faults);
      prefix(faults, known, this.loc);
    }
  }

  private isAbsent(value: unknown): boolean {
    return value === undefined || (value === null && this.field.nullable);
  }

  private readItems(items: readonly unknown[], dto: Fields, faults: Fault[]): void {
    const { item, field } = this;
    for (let i = 0; i < items.length && faults.length < MAX_FAULTS; i++) {
      const known = faults.length;
      const fault = firstFault(field.itemRules, items[i], dto);
      if (fault !== null) faults.push(fault);
      else if (item) (dto[this.name] as unknown[]).push(item.read(items[i], faults));
      if (faults.length > known) prefix(faults, known, [...this.loc, String(i)]);
    }
  }
}

function convert({ name, convert: converted }: Field, source: Fields): unknown {
  const value = source[name];
  return converted === undefined || value === undefined ? value : converted(value);
}

function firstFault(rules: readonly FieldRule[], value: unknown, owner: object): Fault | null {
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
