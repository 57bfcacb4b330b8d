import type { DtoClass } from './dto-class.js';
import type { Fault } from './fault.js';
import { fieldsOf } from './fields-of.js';
import { FieldReader, readerOf } from './reader.js';
import { IsList } from './rules.js';

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
  @IsList()
  items!: unknown[];
}
